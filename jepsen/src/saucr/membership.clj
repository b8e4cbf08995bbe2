(ns saucr.membership
  "Members leave and join by ZooKeeper's reconfiguration. Needs ZooKeeper's client only."
  (:require [clojure.string :as str]
            [saucr.zk :as zk])
  (:import (org.apache.zookeeper KeeperException)
           (org.apache.zookeeper.admin ZooKeeperAdmin)
           (org.apache.zookeeper.data Stat)))

(defn number
  "A node's number in the ensemble, from 1."
  [nodes node]
  (inc (.indexOf ^java.util.List (vec nodes) node)))

(defn server-line
  "The line of the configuration for a node's server."
  [nodes port node]
  (str "server." (number nodes node) "=" node ":2888:3888:participant;" port))

(defn parse
  "A configuration's servers: number to the rest of its line. The text is that of ZooKeeper's /zookeeper/config."
  [text]
  (into (sorted-map)
        (for [line (str/split-lines text)
              :let [[_ number address] (re-matches #"server\.(\d+)=(.*)" line)]
              :when number]
          [(parse-long number) address])))

(defn- with-admin
  "Calls f with an admin client of all nodes and the members. Errors of the ensemble are the result, as a keyword."
  [nodes port f]
  (let [client (zk/connect (zk/hosts nodes port) {})]
    (try
      (let [members (parse (zk/text (.getConfig (zk/session client) false (Stat.))))
            admin (ZooKeeperAdmin. (:hosts client) 10000 (reify org.apache.zookeeper.Watcher (process [_ _])))]
        (try
          (f admin members)
          (finally (.close admin))))
      (catch KeeperException e (keyword (str (.code e))))
      (catch java.util.concurrent.TimeoutException _ :no-server)
      (finally (zk/close client)))))

(defn- reconfigure [^ZooKeeperAdmin admin joining leaving]
  (.reconfigure admin ^java.util.List joining ^java.util.List leaving nil -1 (Stat.)))

(defn remove-member
  "Removes a node's server, unless fewer than three would stay."
  [nodes port node]
  (with-admin nodes port
    (fn [admin members]
      (let [n (number nodes node)]
        (cond
          (not (members n)) :no-member
          (< (count members) 4) :too-few
          :else (do (reconfigure admin nil [(str n)]) [:removed node]))))))

(defn add-missing
  "Adds every node's server that is no member."
  [nodes port]
  (with-admin nodes port
    (fn [admin members]
      (vec (for [node nodes
                 :let [n (number nodes node)]
                 :when (not (members n))]
             (do (reconfigure admin [(server-line nodes port node)] nil)
                 [:added node]))))))
