(ns saucr.workload.set
  "A set: :add creates a child, one :read at the end lists them all. What was acknowledged must be there, and nothing that
  nobody added."
  (:require [clojure.set :as set]
            [saucr.history :as history]
            [saucr.zk :as zk]))

(def root "/set")

(defn setup! [client] (zk/ensure-node client root nil))

(defn invoke! [client {:keys [f value] :as op}]
  (case f
    :add (zk/perform op false
           (zk/create client (str root "/" value) value)
           (assoc op :type :ok))
    :read (zk/perform op true
            (zk/sync! client root)
            (assoc op :type :ok :value (into (sorted-set) (map parse-long) (zk/children-or-none client root))))))

(defn check
  "Compares the last read with what was added."
  [history]
  (let [final (last (history/of history :read :ok))
        attempted (history/values history :add :invoke)
        acknowledged (history/values history :add :ok)
        failed (history/values history :add :fail)]
    (if (nil? final)
      {:valid? :unknown :error "The set was never read."}
      (let [read (set (:value final))
            lost (set/difference acknowledged read)
            unexpected (set/difference read attempted)
            risen (set/intersection read failed)]
        {:valid? (every? empty? [lost unexpected risen])
         :acknowledged (count acknowledged)
         :read (count read)
         :lost (into (sorted-set) lost)
         :unexpected (into (sorted-set) unexpected)
         :failed-but-there (into (sorted-set) risen)}))))
