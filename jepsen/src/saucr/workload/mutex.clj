(ns saucr.workload.mutex
  "ZooKeeper's recipe for locks, with a fencing token. :hold creates an ephemeral sequential node, waits until it is the first,
  and deletes it again; its value is the node's czxid. A lock in ZooKeeper may be held twice for a moment, by a client that
  does not know yet that its session has expired. What must hold: of two holders, one after the other, the later has the
  larger token, so a resource that refuses smaller tokens than it has seen is safe."
  (:require [clojure.string :as str]
            [saucr.workload.ids :as ids]
            [saucr.history :as history]
            [saucr.zk :as zk]))

(def root "/mutex")
(def patience "Milliseconds that a client waits for the lock." 5000)

(defn setup! [client] (zk/ensure-node client root nil))

(defn- first? [client node]
  (zk/sync! client root)
  (let [waiting (zk/children client root)]
    (and (some #{node} waiting)
         (= node (first (sort-by ids/number waiting))))))

(defn- acquire
  "Whether the node became the first before the client's patience was over."
  [client node]
  (let [end (+ (System/nanoTime) (* 1000000 patience))]
    (loop []
      (cond (first? client node) true
            (< end (System/nanoTime)) false
            :else (do (Thread/sleep 20) (recur))))))

(defn invoke! [client op]
  (zk/perform op false
    (let [path (zk/create client (str root "/lock-") (:process op) :ephemeral-sequential)
          node (subs path (inc (str/last-index-of path "/")))]
      (try
        (if (acquire client node)
          (assoc op :type :ok :value (nth (zk/read-node client path) 2))
          (assoc op :type :fail :error :not-acquired))
        (finally
          (try (zk/delete client path) (catch Exception _ nil)))))))

(defn check
  "Looks for tokens that came twice or fall."
  [history]
  (let [held (history/of history :hold :ok)
        twice (into (sorted-map) (filter #(< 1 (val %))) (frequencies (map :value held)))
        falling (ids/rising (filter #(= :hold (:f %)) history))]
    {:valid? (cond (or (seq twice) (seq falling)) false (empty? held) :unknown :else true)
     :held (count held)
     :twice twice
     :falling (vec (take 10 falling))}))
