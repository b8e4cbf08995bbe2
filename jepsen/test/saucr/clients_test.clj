(ns saucr.clients-test
  "The clients of the workloads against a real ensemble, at saucr.jepsen.connect: the shape of each operation, and what the
  checkers say of what they did."
  (:require [clojure.string :as str]
            [clojure.test :refer [deftest is]]
            [saucr.membership :as membership]
            [saucr.workload.bank :as bank]
            [saucr.workload.ids :as ids]
            [saucr.workload.mutex :as mutex]
            [saucr.workload.once :as once]
            [saucr.workload.register :as register]
            [saucr.workload.session :as session]
            [saucr.workload.set :as set-workload]
            [saucr.workload.watch :as watch]
            [saucr.zk :as zk])
  (:import (java.net ServerSocket)
           (java.nio.file Files)
           (java.nio.file.attribute FileAttribute)))

(def connect (System/getProperty "saucr.jepsen.connect"))
(def apaches? (Boolean/getBoolean "saucr.jepsen.apaches"))

(defn- with-client
  "Calls f with a client whose nodes are there."
  [setup! f]
  (let [client (zk/connect connect {})]
    (try
      (setup! client)
      (f client)
      (finally (zk/close client)))))

(defn- history
  "Performs operations one after the other; each and its completion."
  [invoke! client ops]
  (vec (mapcat (fn [[f value]]
                 (let [op {:type :invoke :f f :value value :process 0}]
                   [op (invoke! client op)]))
               ops)))

(deftest registers
  (with-client register/setup!
    (fn [client]
      (let [done (map (juxt :f :type :value :error)
                      (filter #(not= :invoke (:type %))
                              (history register/invoke! client
                                       [[:read [7 nil]] [:cas [7 [1 2]]] [:write [7 1]] [:read [7 nil]] [:cas [7 [1 2]]]
                                        [:cas [7 [1 3]]] [:write [7 4]] [:read [7 nil]]])))]
        (is (= [[:read :ok [7 register/absent] nil]
                [:cas :fail [7 [1 2]] :other-value]
                [:write :ok [7 1] nil]
                [:read :ok [7 1] nil]
                [:cas :ok [7 [1 2]] nil]
                [:cas :fail [7 [1 3]] :other-value]
                [:write :ok [7 4] nil]
                [:read :ok [7 4] nil]]
               done))))))

(deftest sets
  (with-client set-workload/setup!
    (fn [client]
      (let [done (history set-workload/invoke! client [[:add 3] [:add 1] [:add 3] [:read nil]])]
        (is (= [:ok :ok :fail :ok] (map :type (take-nth 2 (rest done)))) "the second 3 is there already")
        (is (= #{1 3} (:value (last done))))
        (is (false? (:valid? (set-workload/check done))) "a value that failed is there: the checker compares values")
        (doseq [path ["/set/1" "/set/3" set-workload/root]] (zk/delete client path))
        (is (= #{1 3} (:lost (set-workload/check (concat done (history set-workload/invoke! client [[:read nil]])))))
            "the set's own node is lost, and all with it")))))

(deftest banks
  (with-client bank/setup!
    (fn [client]
      (let [done (history bank/invoke! client
                          [[:read nil] [:transfer {:from 0 :to 1 :amount 7}] [:transfer {:from 0 :to 2 :amount 7}] [:read nil]])]
        (is (= [:ok :ok :fail :ok] (map :type (take-nth 2 (rest done)))) "there is not enough for the second")
        (is (= {0 3 1 17} (select-keys (:value (last done)) [0 1])))
        (is (= {:valid? true :reads 2 :transfers 1 :wrong []} (bank/check done)))))))

(deftest unique-ids
  (with-client ids/setup!
    (fn [client]
      (let [done (history ids/invoke! client (repeat 5 [:generate nil]))]
        (is (= [1 1 1 1] (map - (drop 1 (map :value (take-nth 2 (rest done)))) (map :value (take-nth 2 (rest done))))))
        (is (:valid? (ids/check done)))))))

(deftest mutexes
  (with-client mutex/setup!
    (fn [client]
      (let [done (history mutex/invoke! client (repeat 3 [:hold nil]))]
        (is (every? pos-int? (map :value (take-nth 2 (rest done)))))
        (is (= {:valid? true :held 3 :twice {} :falling []} (mutex/check done)))
        (is (empty? (zk/children client mutex/root)) "released"))
      (zk/create client (str mutex/root "/lock-") :other :ephemeral-sequential)
      (with-redefs [mutex/patience 100]
        (let [[_ refused] (history mutex/invoke! client [[:hold nil]])]
          (is (= [:fail :not-acquired] ((juxt :type :error) refused)))
          (is (= 1 (count (zk/children client mutex/root))) "a client that waited in vain waits no longer"))))))

(defn- watched?
  "Whether some server holds a watch on the node of that workload."
  []
  (some (fn [server]
          (let [[host port] (str/split server #":")]
            (some-> (zk/four-letter-word host (parse-long port) "wchp" 5000) (str/includes? watch/root))))
        (str/split connect #",")))

(deftest watches
  (with-client watch/setup!
    (fn [client]
      (with-client watch/setup!
        (fn [writer]
          (with-redefs [watch/patience 60000]
            (let [observed (future (watch/invoke! client {:type :invoke :f :observe :process 0}))]
              ;; Before the watch is there a write is not told of.
              (while (not (watched?)) (Thread/sleep 20))
              (is (= [42 1] (:value (watch/invoke! writer {:type :invoke :f :write :value 42 :process 1}))))
              (is (= {:before 0 :after 1 :told? true} (:value @observed)))
              (is (:valid? (watch/check [@observed])))))
          (with-redefs [watch/patience 50]
            (is (= {:before 1 :after 1 :told? false} (:value (watch/invoke! client {:type :invoke :f :observe :process 0}))))))))))

(deftest sessions
  (with-client session/setup!
    (fn [client]
      (let [client (assoc client :session-ms 4000)
            done (history session/invoke! client [[:live {:id 1 :ms 50 :end :close}] [:live {:id 2 :ms 50 :end :die}]])]
        (is (= [{:id 1 :ms 50 :end :close :gone-early? false :stayed? false}
                {:id 2 :ms 50 :end :die :gone-early? false}]
               (map :value (take-nth 2 (rest done)))))
        (is (= [2] (:value (session/invoke! client {:type :invoke :f :read}))) "nobody closed it")
        (loop []
          (when (seq (:value (session/invoke! client {:type :invoke :f :read}))) (Thread/sleep 100) (recur)))
        (is (:valid? (session/check (conj done (session/invoke! client {:type :invoke :f :read})))))))))

(deftest once-clients
  (with-client once/setup!
    (fn [client]
      (let [folder (str (Files/createTempDirectory "once" (make-array FileAttribute 0)))
            open #(assoc client :once (once/open-once connect folder "jepsen-0"))
            first-life (open)
            done (history once/invoke! first-life [[:add 5] [:add 6]])]
        (.close (:once first-life))
        (let [second-life (open)
              done (into done (history once/invoke! second-life [[:add 7] [:read nil]]))]
          (.close (:once second-life))
          (is (= [5 6 7] (:value (last done))))
          (is (:valid? (once/check done))))))))

(deftest where-nobody-listens
  (with-open [socket (ServerSocket. 0)]
    (let [port (.getLocalPort socket)]
      (.close socket)
      (let [client (zk/connect (str "127.0.0.1:" port) {:wait-ms 200})]
        (is (= :fail (:type (register/invoke! client {:type :invoke :f :write :value [1 1]}))) "nothing was sent")
        (is (= :fail (:type (register/invoke! client {:type :invoke :f :read :value [1 nil]}))))
        (is (nil? (zk/mode "127.0.0.1" port)))))))

(deftest modes-and-members
  (let [[host port] (str/split (first (str/split connect #",")) #":")]
    (is (contains? #{"leader" "follower" "standalone"} (zk/mode host (parse-long port)))))
  (with-client (constantly nil)
    (fn [client]
      (when-not apaches? ; One server alone has no configuration.
        (is (= #{1 2 3} (set (keys (membership/parse (zk/text (.getConfig (zk/session client) false
                                                                          (org.apache.zookeeper.data.Stat.))))))))))))
