(ns saucr.workload.once
  "The once client (saucr-once): :add submits a sequential node, whose repetition would show. What a client gave no outcome for is
  continued by the next one on the same folder, as after the death of its process. At the end each acknowledged value is there
  exactly once, each other at most once."
  (:require [saucr.history :as history]
            [saucr.zk :as zk])
  (:import (io.saucr.services.once OnceClient Operation)
           (java.nio.file Path)
           (java.util.concurrent ExecutionException TimeUnit TimeoutException)))

(def root "Beside /once, where the once client keeps its markers." "/added-once")

(defn setup! [client] (zk/ensure-node client root nil))

(defn open-once
  "A once client with a name and a folder of its own below `folder`."
  ^OnceClient [hosts folder name]
  (-> (OnceClient/at hosts)
      (.name name)
      (.folder (Path/of (str folder) (into-array String [name])))
      (.open)))

(defn invoke!
  "Needs a client with :once, a once client, besides what `zk/connect` makes."
  [{:keys [^OnceClient once] :as client} {:keys [f value] :as op}]
  (case f
    :add (try
           (let [outcome (.get (.submit once (Operation/createSequential (str root "/n-") (zk/data value)))
                               (:reply-ms client) TimeUnit/MILLISECONDS)]
             (if (.happened outcome)
               (assoc op :type :ok)
               (assoc op :type :fail :error (str (.get (.refusal outcome))))))
           (catch TimeoutException _ (assoc op :type :info :error :timeout))
           (catch ExecutionException e (assoc op :type :info :error (str (.getCause e)))))
    :read (zk/perform op true
            (zk/sync! client root)
            (assoc op :type :ok
                      :value (mapv #(first (zk/read-node client (str root "/" %))) (sort (zk/children-or-none client root)))))))

(defn check
  "Counts how often each value is there at the end."
  [history]
  (let [final (last (history/of history :read :ok))
        values #(history/values history :add %)
        there (frequencies (:value final))
        lost (into (sorted-set) (remove there) (values :ok))
        risen (into (sorted-set) (filter there) (values :fail))
        unexpected (into (sorted-set) (remove (values :invoke)) (keys there))
        twice (into (sorted-map) (filter #(< 1 (val %))) there)]
    {:valid? (cond (nil? final) :unknown
                   (some seq [lost risen unexpected twice]) false
                   (empty? (values :ok)) :unknown
                   :else true)
     :acknowledged (count (values :ok))
     :unknown (count (values :info))
     :there (count there)
     :lost lost
     :failed-but-there risen
     :unexpected unexpected
     :twice twice}))
