(ns saucr.workload.register
  "Registers: read, write, compare-and-set, each register a node. A value is [register value]; that of :cas is
  [register [old new]]. Linearizable, because each read is behind a sync. A register that was never written is :absent, and so is one
  that was lost: a read of nil fits anywhere to the checker."
  (:require [saucr.zk :as zk]))

(def root "/register")
(def absent :absent)
(defn- path [k] (str root "/" k))

(defn setup! [client] (zk/ensure-node client root nil))

(defn- read-now
  "[value version] of a register; no version where there is none."
  [client k]
  (try
    (subvec (zk/read-node client (path k)) 0 2)
    (catch org.apache.zookeeper.KeeperException$NoNodeException _ [absent nil])))

(defn- create-or-set [client k v]
  (try
    (zk/write-node client (path k) v -1)
    (catch org.apache.zookeeper.KeeperException$NoNodeException _
      (zk/create client (path k) v))))

(defn invoke! [client {[k v] :value f :f :as op}]
  (case f
    :read (zk/perform op true
            (zk/sync! client (path k))
            (assoc op :type :ok :value [k (first (read-now client k))]))
    :write (zk/perform op false
             (create-or-set client k v)
             (assoc op :type :ok))
    :cas (let [[old new] v]
           (zk/perform op false
             (let [[now version] (read-now client k)]
               (if (and version (= now old))
                 (do (zk/write-node client (path k) new version)
                     (assoc op :type :ok))
                 (assoc op :type :fail :error :other-value)))))))
