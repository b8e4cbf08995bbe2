(ns saucr.workload.bank
  "Accounts between which money moves: :transfer is one multi with the versions that it read, :read one multi of reads. No
  read may see another total, and none an account below zero."
  (:require [saucr.history :as history]
            [saucr.zk :as zk]))

(def root "/bank")
(def accounts (vec (range 8)))
(def total 80)
(defn- path [account] (str root "/" account))

(defn setup! [client]
  (zk/ensure-node client root nil)
  (doseq [account accounts]
    (zk/ensure-node client (path account) (/ total (count accounts)))))

(defn invoke! [client {:keys [f value] :as op}]
  (case f
    :read (zk/perform op true
            (assoc op :type :ok :value (zipmap accounts (zk/read-nodes client (map path accounts)))))
    :transfer (zk/perform op false
                (let [{:keys [from to amount]} value
                      [a a-version] (zk/read-node client (path from))
                      [b b-version] (zk/read-node client (path to))]
                  (if (< a amount)
                    (assoc op :type :fail :error :not-enough)
                    (do (zk/write-nodes client [[(path from) (- a amount) a-version] [(path to) (+ b amount) b-version]])
                        (assoc op :type :ok)))))))

(defn check
  "Looks at each read."
  [history]
  (let [reads (history/of history :read :ok)
        wrong (remove #(and (= total (reduce + (vals (:value %)))) (every? nat-int? (vals (:value %)))
                            (= (set accounts) (set (keys (:value %)))))
                      reads)]
    {:valid? (cond (seq wrong) false (empty? reads) :unknown :else true)
     :reads (count reads)
     :transfers (count (history/of history :transfer :ok))
     :wrong (vec (take 10 wrong))}))
