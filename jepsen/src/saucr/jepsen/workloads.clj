(ns saucr.jepsen.workloads
  "The workloads as Jepsen has them: a client, a generator of operations, those of the end, and a checker."
  (:require [clojure.string :as str]
            [clojure.tools.logging :refer [warn]]
            [jepsen [checker :as checker]
                    [client :as client]
                    [generator :as gen]
                    [history :as h]
                    [independent :as independent]
                    [random :as rand]
                    [store :as store]]
            [jepsen.tests [bank :as jepsens-bank]
                          [linearizable-register :as linearizable]]
            [knossos.model :as model]
            [saucr.jepsen.db :as db]
            [saucr.workload.bank :as bank]
            [saucr.workload.ids :as ids]
            [saucr.workload.mutex :as mutex]
            [saucr.workload.once :as once]
            [saucr.workload.register :as register]
            [saucr.workload.session :as session]
            [saucr.workload.set :as set-workload]
            [saucr.workload.watch :as watch]
            [saucr.zk :as zk])
  (:import (io.saucr.services.once OnceClient)))

(defn- hosts [nodes] (zk/hosts nodes db/client-port))

(defn- with-retries
  "Until it works: the first operations of a test may meet an election."
  [f]
  (loop [left 30]
    (let [result (try (f) :done (catch Exception e (if (pos? left) :again (throw e))))]
      (when (= :again result)
        (Thread/sleep 1000)
        (recur (dec left))))))

(defrecord Client [setup invoke wrap connection]
  client/Client
  (open! [this _ node]
    (assoc this :connection (zk/connect (hosts [node]) {})))
  (setup! [_ _] (with-retries #(setup connection)))
  (invoke! [_ _ op] (wrap (invoke connection op)))
  (teardown! [_ _])
  (close! [_ _] (zk/close connection)))

(defn- zk-client
  ([setup invoke] (zk-client setup invoke identity))
  ([setup invoke wrap] (->Client setup invoke wrap nil)))

(defn- take-name
  "A free name of a pool, or a new one."
  [pool node]
  (let [taken (atom nil)]
    (swap! pool (fn [{:keys [free made]}]
                  (if-let [name (first (filter #(str/starts-with? % (str node "-")) free))]
                    (do (reset! taken name) {:free (disj free name) :made made})
                    (let [name (str node "-" made)]
                      (reset! taken name)
                      {:free free :made (inc made)}))))
    @taken))

(defrecord OnceJepsenClient [pool name connection]
  client/Client
  (open! [this test node]
    (let [name (take-name pool node)
          folder (doto (store/path test "once") (.mkdirs))]
      (assoc this :name name
                  :connection (assoc (zk/connect (hosts [node]) {})
                                     :once (once/open-once (hosts (:nodes test)) (.getCanonicalPath folder) name)))))
  (setup! [_ _] (with-retries #(once/setup! connection)))
  (invoke! [_ _ op] (once/invoke! connection op))
  (teardown! [_ _])
  (close! [_ _]
    (.close ^OnceClient (:once connection))
    (zk/close connection)
    (swap! pool update :free conj name)))

(defn- checks
  "A checker of a function of the history."
  [check]
  (reify checker/Checker
    (check [_ _ history _] (check history))))

(defn- on
  "A checker on other operations than those of the history."
  [checker change]
  (reify checker/Checker
    (check [_ test history opts] (checker/check checker test (change history) opts))))

(defn- checks-twice
  "Two checkers, both of which must be content: a function of the history, and Jepsen's own for such a workload, which knows less."
  [check jepsens]
  (checker/compose {:ours (checks check) :jepsens jepsens}))

(def set-checker (checks-twice set-workload/check (checker/set)))

(def bank-checker
  (checks-twice bank/check
                (reify checker/Checker
                  (check [_ test history opts]
                    (checker/check (jepsens-bank/checker {}) (assoc test :accounts bank/accounts :total-amount bank/total)
                                   history opts)))))

(def ids-checker (checks-twice ids/check (checker/unique-ids)))

(def mutex-checker
  (checks-twice mutex/check (on (checker/unique-ids) (partial h/map #(assoc % :f :generate)))))

(defn- as-queue
  "What was added, and one read at the end, as a queue that is drained."
  [history]
  (let [final (:index (last (h/filter #(and (h/ok? %) (= :read (:f %))) history)))]
    (->> history
         (h/filter #(or (= :add (:f %)) (= final (:index %))))
         (h/map #(assoc % :f ({:add :enqueue :read :drain} (:f %)))))))

(def once-checker (checks-twice once/check (on (checker/total-queue) as-queue)))

(defn- numbered
  "Operations with numbers that rise."
  [f]
  (map (fn [i] {:type :invoke :f f :value i}) (range)))

(def ^:private a-read {:type :invoke :f :read})

(defn- last-read
  "A read by each thread. Made anew for each workload: it keeps the threads that it met first."
  []
  (gen/each-thread a-read))

(defn- register-workload [opts]
  (assoc (linearizable/test {:nodes (:nodes opts) :per-key-limit (:per-key-limit opts) :process-limit 40
                              :model (model/cas-register register/absent)})
         :client (zk-client register/setup! register/invoke!
                            (fn [op] (update op :value #(independent/tuple (first %) (second %)))))
         :threads (* 2 (count (:nodes opts)))))

(defn- set-of-adds [_]
  {:client (zk-client set-workload/setup! set-workload/invoke!)
   :generator (numbered :add)
   :final-generator (last-read)
   :checker set-checker})

(defn- transfer [_ _]
  (let [from (rand/nth bank/accounts)]
    {:type :invoke :f :transfer
     :value {:from from :to (rand/nth (remove #{from} bank/accounts)) :amount (inc (rand/long 5))}}))

(defn- bank-workload [_]
  {:client (zk-client bank/setup! bank/invoke!)
   :generator (gen/mix [transfer (gen/repeat a-read)])
   :final-generator (last-read)
   :checker bank-checker})

(defn- ids-workload [_]
  {:client (zk-client ids/setup! ids/invoke!)
   :generator (gen/repeat {:type :invoke :f :generate})
   :checker ids-checker})

(defn- mutex-workload [_]
  {:client (zk-client mutex/setup! mutex/invoke!)
   :generator (gen/repeat {:type :invoke :f :hold})
   :checker mutex-checker})

(defn- watch-workload [_]
  {:client (zk-client watch/setup! watch/invoke!)
   :generator (gen/mix [(numbered :write) (gen/repeat {:type :invoke :f :observe}) (gen/repeat {:type :invoke :f :observe})])
   :checker (checks watch/check)})

(defn- session-workload [_]
  {:client (zk-client session/setup! session/invoke!)
   :generator (map (fn [i] {:type :invoke :f :live
                            :value {:id i :ms (rand/long session/longest-life) :end (rand/nth [:close :die])}})
                   (range))
   ;; Sessions of 10 s that nobody closed are over then.
   :final-wait 30
   :final-generator (last-read)
   :checker (checks session/check)})

(defn- once-workload [_]
  {:client (->OnceJepsenClient (atom {:free #{} :made 0}) nil nil)
   :generator (numbered :add)
   ;; The clients of the end continue what those before them left open.
   :final-wait 20
   :final-generator (last-read)
   :checker once-checker})

;; The registers first: Jepsen gives threads to keys only where their numbers begin with 0.
(def ^:private single
  (array-map
    "register" register-workload
    "set" set-of-adds
    "bank" bank-workload
    "ids" ids-workload
    "mutex" mutex-workload
    "watch" watch-workload
    "session" session-workload
    "once" once-workload))

(defrecord SideBySide [clients node opened]
  client/Client
  (open! [this _ node] (assoc this :node node :opened (atom {})))
  (setup! [_ test]
    (doseq [made (vals clients)]
      (let [opened (client/open! made test node)]
        (try
          (client/setup! opened test)
          (finally (client/close! opened test))))))
  (invoke! [_ test {:keys [workload] :as op}]
    ;; One thread, so one workload, and one client. It is opened with its first operation.
    (if-let [own (or (@opened workload)
                     (try
                       (get (swap! opened assoc workload (client/open! (clients workload) test node)) workload)
                       (catch Exception e (warn e "No client of" workload))))]
      (client/invoke! own test op)
      (assoc op :type :fail :error :no-client)))
  (teardown! [_ _])
  (close! [_ test] (doseq [own (vals @opened)] (client/close! own test))))

(defn- share
  "A generator with which each workload's threads have its generator under `key`."
  [parts n key]
  (let [own (fn [[name part]] (gen/map #(assoc % :workload name) (key part)))]
    (apply gen/reserve (concat (mapcat (fn [[_ workload :as part]] [(:threads workload n) (own part)]) (butlast parts))
                               [(own (last parts))]))))

(defn- on-part
  "A workload's checker, on the operations of that workload."
  [[name {:keys [checker]}]]
  [name (reify checker/Checker
          (check [_ test history opts]
            (checker/check checker test (h/filter #(= name (:workload %)) history) opts)))])

(defn- side-by-side
  "All workloads at once on one ensemble, each with threads, nodes of the tree, and a verdict of its own."
  [{:keys [nodes] :as opts}]
  (let [parts (mapv (fn [[name make]] [name (make opts)]) single)
        n (count nodes)]
    {:client (->SideBySide (into {} (for [[name part] parts] [name (:client part)])) nil nil)
     :threads (reduce + (map #(:threads (second %) n) parts))
     :generator (share parts n :generator)
     :final-wait (reduce max (keep (comp :final-wait second) parts))
     :final-generator (share parts n :final-generator)
     :checker (checker/compose (into {} (map on-part) parts))}))

(def workloads (assoc (into {} single) "all" side-by-side))
