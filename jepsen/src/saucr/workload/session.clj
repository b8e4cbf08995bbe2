(ns saucr.workload.session
  "Sessions and their ephemeral nodes. :live creates a node, stays a while, looks whether it is still there, and closes the
  session or dies. A node is there as long as its session, and goes with it: at once where the session was closed, and at the
  end, when all sessions are over, :read finds none."
  (:require [saucr.history :as history]
            [saucr.zk :as zk]))

(def root "/session")
(def longest-life "Milliseconds that a session is kept." 2000)

(defn setup! [client] (zk/ensure-node client root nil))

(defn- there? [client path]
  (zk/sync! client root)
  (zk/exists? client path))

(defn- live
  "What became of a session's node: :gone-early?, and :stayed? where it was there after a session that was closed."
  [client {:keys [id ms end]}]
  (let [own (assoc client :session (atom nil))
        path (str root "/" id)
        session-id #(.getSessionId (zk/session own))]
    (try
      (let [at-first (session-id)]
        (zk/create own path id :ephemeral)
        (Thread/sleep (long ms))
        (let [there (there? own path)
              same? (= at-first (session-id))]
          (cond
            (not same?) {:expired? true}
            (= :die end) (do (zk/abandon own) {:gone-early? (not there)})
            :else (do (zk/close own) {:gone-early? (not there) :stayed? (there? client path)}))))
      (finally (zk/abandon own)))))

(defn invoke! [client {:keys [f value] :as op}]
  (case f
    :live (zk/perform op true
            (assoc op :type :ok :value (merge value (live client value))))
    :read (zk/perform op true
            (zk/sync! client root)
            (assoc op :type :ok :value (vec (sort (map parse-long (zk/children client root))))))))

(defn check
  "Looks at each life, and at what is left when all are over."
  [history]
  (let [lives (history/of history :live :ok)
        final (last (history/of history :read :ok))
        early (filter #(:gone-early? (:value %)) lives)
        stayed (filter #(:stayed? (:value %)) lives)]
    {:valid? (cond (or (seq early) (seq stayed) (seq (:value final))) false
                   (or (nil? final) (empty? lives)) :unknown
                   :else true)
     :lives (count lives)
     :gone-early (vec (take 10 early))
     :stayed (vec (take 10 stayed))
     :left (:value final)}))
