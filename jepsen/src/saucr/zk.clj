(ns saucr.zk
  "A connection to one server, and what becomes of an operation that fails. Needs ZooKeeper's client only, not Jepsen.

  An operation is a map with :f, :value and :process. A function that performs it returns it with :type :ok, :fail (it
  did not happen and never will) or :info (nobody knows)."
  (:require [clojure.edn :as edn]
            [clojure.string :as str])
  (:import (java.net InetSocketAddress Socket)
           (java.util ArrayList)
           (java.util.concurrent CompletableFuture TimeUnit TimeoutException)
           (org.apache.zookeeper AsyncCallback$DataCallback AsyncCallback$VoidCallback CreateMode KeeperException
                                 KeeperException$Code Op OpResult$GetDataResult Watcher Watcher$Event$EventType
                                 Watcher$Event$KeeperState
                                 ZooDefs$Ids ZooKeeper)
           (org.apache.zookeeper.data Stat)))

(def refusals
  "Codes with which a server says that an operation did not happen."
  #{KeeperException$Code/NONODE KeeperException$Code/NODEEXISTS KeeperException$Code/BADVERSION
    KeeperException$Code/NOTEMPTY KeeperException$Code/NOAUTH KeeperException$Code/BADARGUMENTS
    KeeperException$Code/NOCHILDRENFOREPHEMERALS KeeperException$Code/NOTREADONLY
    KeeperException$Code/THROTTLEDOP KeeperException$Code/NEWCONFIGNOQUORUM
    KeeperException$Code/RECONFIGINPROGRESS})

(defn hosts
  "The connect string of nodes that all listen on one port."
  [nodes port]
  (str/join "," (map #(str % ":" port) nodes)))

(defn- open
  "A new session, once it is connected. Throws a TimeoutException after `wait` milliseconds."
  ^ZooKeeper [hosts session wait]
  (let [connected (CompletableFuture.)
        zk (ZooKeeper. ^String hosts (int session)
                       (reify Watcher
                         (process [_ event]
                           (when (= Watcher$Event$KeeperState/SyncConnected (.getState event))
                             (.complete connected true)))))]
    (try
      (.get connected wait TimeUnit/MILLISECONDS)
      zk
      (catch Throwable e
        (.close zk)
        (throw e)))))

(defn connect
  "A client of `hosts` (host:port, one or more). It opens its session with the first operation, and a new one when that
  has expired. Options: :session-ms (10000), :wait-ms for a connection (5000) and for a reply (20000)."
  [hosts {:keys [session-ms wait-ms reply-ms] :or {session-ms 10000 wait-ms 5000 reply-ms 20000}}]
  {:hosts hosts :session-ms session-ms :wait-ms wait-ms :reply-ms reply-ms :session (atom nil)})

(defn session
  "The client's live session; opens one where there is none."
  ^ZooKeeper [{:keys [hosts session-ms wait-ms session]}]
  (locking session
    (let [^ZooKeeper now @session]
      (if (and now (.isAlive (.getState now)))
        now
        (reset! session (open hosts session-ms wait-ms))))))

(defn close
  "Ends the client's session, if it has one."
  [{:keys [session]}]
  (locking session
    (when-let [^ZooKeeper now @session]
      (reset! session nil)
      (.close now))))

(defn- await-reply
  "What the server replied. Throws its KeeperException, or a TimeoutException after the client's :reply-ms."
  [client ^CompletableFuture reply]
  (try
    (.get reply (:reply-ms client) TimeUnit/MILLISECONDS)
    (catch java.util.concurrent.ExecutionException e
      (throw (.getCause e)))))

(defn- fail [^CompletableFuture reply code path]
  (.completeExceptionally reply (KeeperException/create (KeeperException$Code/get code) path)))

(defn sync!
  "Waits until the server has applied all that was committed when the leader heard of this."
  [client path]
  (let [reply (CompletableFuture.)]
    (.sync (session client) path
           (reify AsyncCallback$VoidCallback
             (processResult [_ code path _]
               (if (zero? code) (.complete reply true) (fail reply code path))))
           nil)
    (await-reply client reply)))

(defn text [^bytes data] (String. data "UTF-8"))
(defn data ^bytes [value] (.getBytes (pr-str value) "UTF-8"))
(defn value [^bytes data] (edn/read-string (text data)))

(defn read-node
  "[value version czxid] of a node."
  [client path]
  (let [stat (Stat.)
        bytes (.getData (session client) ^String path false stat)]
    [(value bytes) (.getVersion stat) (.getCzxid stat)]))

(defn read-in-order
  "Reads a node in the order in which the server sent its replies and events: `seen` gets [value version] on the client's
  event thread, and what it returns is returned. With `fired` a watch is left, which calls it once."
  ([client path seen] (read-in-order client path seen nil))
  ([client path seen fired]
   (let [reply (CompletableFuture.)
         watcher (when fired
                   (reify Watcher
                     (process [_ event]
                       (when (not= Watcher$Event$EventType/None (.getType event))
                         (fired)))))
         callback (reify AsyncCallback$DataCallback
                    (processResult [_ code path _ bytes stat]
                      (if (zero? code)
                        (.complete reply (seen [(value bytes) (.getVersion ^Stat stat)]))
                        (fail reply code path))))]
     (.getData (session client) ^String path ^Watcher watcher callback nil)
     (await-reply client reply))))

(defn read-nodes
  "The values of several nodes at one instant: one multi."
  [client paths]
  (let [ops (ArrayList. ^java.util.Collection (mapv #(Op/getData %) paths))]
    (mapv (fn [result]
            (if (instance? OpResult$GetDataResult result)
              (value (.getData ^OpResult$GetDataResult result))
              (throw (KeeperException/create KeeperException$Code/NONODE))))
          (.multi (session client) ops))))

(defn children [client path] (vec (.getChildren (session client) ^String path false)))

(defn children-or-none
  "The children of a node that was there before the test; none where it was lost with them."
  [client path]
  (try
    (children client path)
    (catch org.apache.zookeeper.KeeperException$NoNodeException _ [])))

(defn create
  "Creates a node and returns its path. Modes: :persistent, :ephemeral, :sequential, :ephemeral-sequential."
  ([client path v] (create client path v :persistent))
  ([client path v mode]
   (.create (session client) path (data v) ZooDefs$Ids/OPEN_ACL_UNSAFE
            (case mode
              :persistent CreateMode/PERSISTENT
              :ephemeral CreateMode/EPHEMERAL
              :sequential CreateMode/PERSISTENT_SEQUENTIAL
              :ephemeral-sequential CreateMode/EPHEMERAL_SEQUENTIAL))))

(defn ensure-node
  "Creates a node unless it is there."
  [client path v]
  (try
    (create client path v)
    (catch org.apache.zookeeper.KeeperException$NodeExistsException _ path)))

(defn write-node
  "Sets a node's value; -1 is any version. Returns the new version."
  [client path v version]
  (.getVersion (.setData (session client) path (data v) (int version))))

(defn write-nodes
  "Sets several nodes' values in one multi: [path value version] each."
  [client writes]
  (.multi (session client)
          (ArrayList. ^java.util.Collection (mapv (fn [[path v version]] (Op/setData path (data v) (int version))) writes))))

(defn exists? [client path] (some? (.exists (session client) ^String path false)))
(defn delete [client path] (.delete (session client) path -1))

(defn abandon
  "Leaves the client's session without closing it, as a client does that dies: the servers hear nothing of it any more."
  [{:keys [session]}]
  (locking session
    (when-let [^ZooKeeper now @session]
      (reset! session nil)
      ;; ZooKeeper's client has no public way to die.
      (let [connection (.get (doto (.getDeclaredField ZooKeeper "cnxn") (.setAccessible true)) now)]
        (.disconnect ^org.apache.zookeeper.ClientCnxn connection)))))

(defn four-letter-word
  "What the server at host and port replies to such a word (srvr, mntr), or nil within `wait` milliseconds."
  [host port ^String word wait]
  (try
    (with-open [socket (Socket.)]
      (.connect socket (InetSocketAddress. ^String host (int port)) (int wait))
      (.setSoTimeout socket (int wait))
      (.write (.getOutputStream socket) (.getBytes word "US-ASCII"))
      (slurp (.getInputStream socket)))
    (catch java.io.IOException _ nil)))

(defn mode
  "What a server is: \"leader\", \"follower\", ..., or nil where it does not serve."
  [host port]
  (some->> (four-letter-word host port "srvr" 1000) (re-find #"(?m)^Mode: (.*)$") second))

(defn outcome
  "The operation, completed for an exception. `reads?` is true where an operation changes nothing: then it may be repeated,
  and its failure is always known."
  [op reads? ^Throwable e]
  (let [known? (or reads?
                   (instance? TimeoutException e) ; No session: nothing was sent. Replies that are late are handled below.
                   (and (instance? KeeperException e) (contains? refusals (.code ^KeeperException e))))]
    (assoc op
           :type (if known? :fail :info)
           :error (if (instance? KeeperException e) (keyword (str (.code ^KeeperException e))) (str (.getSimpleName (class e)))))))

(defmacro perform
  "Evaluates the body, which returns the completed operation. An exception completes it as `outcome` says."
  [op reads? & body]
  `(let [op# ~op]
     (try
       ~@body
       (catch KeeperException e# (outcome op# ~reads? e#))
       (catch TimeoutException e# (outcome op# ~reads? e#)))))
