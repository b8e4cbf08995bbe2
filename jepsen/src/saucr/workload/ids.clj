(ns saucr.workload.ids
  "Unique ids: :generate creates a sequential node; the id is its number. No id comes twice, and an id that is asked for after
  another one was known is larger."
  (:require [saucr.history :as history]
            [saucr.zk :as zk]))

(def root "/ids")

(defn setup! [client] (zk/ensure-node client root nil))

(defn number
  "The number at the end of a sequential node's name."
  [path]
  (parse-long (re-find #"\d{10}$" path)))

(defn invoke! [client op]
  (zk/perform op false
    (assoc op :type :ok :value (number (zk/create client (str root "/id-") nil :sequential)))))

(defn rising
  "Pairs of completions of which the second was invoked after the first was done, and has no larger value: the worst of each.
  The history has :invoke and :ok operations in the order of time, one at a time for a process."
  [history]
  (loop [left history, highest nil, floor {}, wrong []]
    (if-let [{:keys [type process value] :as op} (first left)]
      (case type
        :invoke (recur (rest left) highest (assoc floor process highest) wrong)
        :ok (let [before (get floor process)
                  wrong (if (and before (<= value (:value before))) (conj wrong [before op]) wrong)]
              (recur (rest left) (if (or (nil? highest) (> value (:value highest))) op highest) floor wrong))
        (recur (rest left) highest floor wrong))
      wrong)))

(defn check
  "Looks for ids that came twice, and for ids that fall."
  [history]
  (let [ids (history/of history :generate :ok)
        twice (into (sorted-map) (filter #(< 1 (val %))) (frequencies (map :value ids)))
        falling (rising (filter #(= :generate (:f %)) history))]
    {:valid? (cond (or (seq twice) (seq falling)) false (empty? ids) :unknown :else true)
     :ids (count ids)
     :twice twice
     :falling (vec (take 10 falling))}))
