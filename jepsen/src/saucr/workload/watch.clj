(ns saucr.workload.watch
  "Watches: :write sets a node, :observe leaves a watch on it and looks again. A session never sees a newer version of the node
  before the event that tells of it, never an older one than it has seen, and no event without a change."
  (:require [saucr.history :as history]
            [saucr.zk :as zk]))

(def root "/watch")
(def patience "Milliseconds in which an event may come before an :observe looks on its own." 500)

(defn setup! [client] (zk/ensure-node client root 0))

(defn invoke! [client {:keys [f value] :as op}]
  (case f
    :write (zk/perform op false
             (assoc op :type :ok :value [value (zk/write-node client root value -1)]))
    :observe (zk/perform op true
               (let [fired (promise)
                     id #(.getSessionId (zk/session client))
                     before-id (id)
                     [_ before] (zk/read-in-order client root identity #(deliver fired true))]
                 (deref fired patience nil)
                 ;; On the event thread: what is known there is what the server sent before.
                 (let [[after told?] (zk/read-in-order client root (fn [[_ version]] [version (realized? fired)]))]
                   ;; A session that expired in between took its watch with it.
                   (if (= before-id (id))
                     (assoc op :type :ok :value {:before before :after after :told? told?})
                     (assoc op :type :fail :error :other-session)))))))

(defn wrong?
  "Whether a completed :observe broke a promise."
  [{{:keys [before after told?]} :value}]
  (or (< after before) (not= told? (< before after))))

(defn check
  "Looks at each observation."
  [history]
  (let [seen (history/of history :observe :ok)
        wrong (filter wrong? seen)
        told (filter #(:told? (:value %)) seen)]
    {:valid? (cond (seq wrong) false (empty? told) :unknown :else true)
     :observations (count seen)
     :events (count told)
     :wrong (vec (take 10 wrong))}))
