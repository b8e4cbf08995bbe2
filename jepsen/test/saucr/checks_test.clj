(ns saucr.checks-test
  "The checkers on histories that are right, and on each kind that is not."
  (:require [clojure.java.io :as io]
            [clojure.test :refer [deftest is testing]]
            [saucr.membership :as membership]
            [saucr.workload.bank :as bank]
            [saucr.workload.ids :as ids]
            [saucr.workload.mutex :as mutex]
            [saucr.workload.once :as once]
            [saucr.workload.session :as session]
            [saucr.workload.set :as set-workload]
            [saucr.workload.watch :as watch]
            [saucr.zk :as zk])
  (:import (java.io PushbackReader)
           (java.util.concurrent TimeoutException)
           (org.apache.zookeeper KeeperException KeeperException$Code)))

(defn- op
  ([type f value] (op type f value 0))
  ([type f value process] {:type type :f f :value value :process process}))

(defn- pairs
  "An operation and its completion, for each value."
  [f type values]
  (mapcat (fn [value] [(op :invoke f value) (op type f value)]) values))

(defn- verdict [check & parts] (:valid? (check (apply concat parts))))

(deftest a-set
  (let [adds (pairs :add :ok [1 2])]
    (is (= :unknown (verdict set-workload/check adds)) "never read")
    (is (true? (verdict set-workload/check adds [(op :ok :read #{1 2})])))
    (is (true? (verdict set-workload/check adds (pairs :add :info [3]) [(op :ok :read #{1 2 3})])) "it may have happened")
    (is (false? (verdict set-workload/check adds [(op :ok :read #{1})])) "lost")
    (is (false? (verdict set-workload/check adds [(op :ok :read #{1 2 9})])) "from nowhere")
    (is (false? (verdict set-workload/check adds (pairs :add :fail [3]) [(op :ok :read #{1 2 3})])) "failed, and there")))

(deftest a-bank
  (let [all (zipmap bank/accounts (repeat 10))]
    (is (= :unknown (verdict bank/check [])))
    (is (true? (verdict bank/check [(op :ok :read all)])))
    (is (true? (verdict bank/check [(op :ok :read (assoc all 0 5 1 15))])))
    (is (false? (verdict bank/check [(op :ok :read (assoc all 0 5))])) "another total")
    (is (false? (verdict bank/check [(op :ok :read (assoc all 0 -1 1 21))])) "below zero")
    (is (false? (verdict bank/check [(op :ok :read (-> all (dissoc 0) (assoc 1 20)))])) "an account is missing")))

(deftest ids-and-tokens
  (doseq [[check f] [[ids/check :generate] [mutex/check :hold]]]
    (is (= :unknown (verdict check [])))
    (is (true? (verdict check (pairs f :ok [1 2 5]))))
    (is (false? (verdict check (pairs f :ok [1 2 2]))) "twice")
    (is (false? (verdict check (pairs f :ok [2 1]))) "it falls")
    (testing "operations side by side have no order"
      (is (true? (verdict check [(op :invoke f nil 0) (op :invoke f nil 1) (op :ok f 2 0) (op :ok f 1 1)]))))))

(deftest observations
  (let [seen (fn [before after told?] [(op :ok :observe {:before before :after after :told? told?})])]
    (is (= :unknown (verdict watch/check (seen 1 1 false))) "no event at all")
    (is (true? (verdict watch/check (seen 1 2 true) (seen 2 2 false))))
    (is (false? (verdict watch/check (seen 1 2 false))) "newer, and no event before it")
    (is (false? (verdict watch/check (seen 1 1 true))) "an event without a change")
    (is (false? (verdict watch/check (seen 2 1 false))) "older than it has seen")))

(deftest lives
  (let [life (fn [m] [(op :ok :live m)]) end [(op :ok :read [])]]
    (is (= :unknown (verdict session/check (life {}))) "never read")
    (is (true? (verdict session/check (life {:gone-early? false :stayed? false}) (life {:expired? true}) end)))
    (is (false? (verdict session/check (life {:gone-early? true}) end)))
    (is (false? (verdict session/check (life {:gone-early? false :stayed? true}) end)))
    (is (false? (verdict session/check (life {}) [(op :ok :read [7])])) "its session is over")))

(deftest once-only
  (let [adds (pairs :add :ok [1 2])]
    (is (= :unknown (verdict once/check adds)) "never read")
    (is (true? (verdict once/check adds (pairs :add :info [3]) [(op :ok :read [1 2])])))
    (is (true? (verdict once/check adds (pairs :add :info [3]) [(op :ok :read [3 2 1])])))
    (is (false? (verdict once/check adds [(op :ok :read [1])])) "lost")
    (is (false? (verdict once/check adds [(op :ok :read [1 2 2])])) "twice")
    (is (false? (verdict once/check adds (pairs :add :info [3]) [(op :ok :read [1 2 3 3])])) "twice, unknown or not")
    (is (false? (verdict once/check adds (pairs :add :fail [3]) [(op :ok :read [1 2 3])])) "failed, and there")
    (is (false? (verdict once/check adds [(op :ok :read [1 2 9])])) "from nowhere")))

(deftest outcomes
  (let [type (fn [reads? e] (:type (zk/outcome {:f :write} reads? e)))
        code (fn [^KeeperException$Code c] (KeeperException/create c "/x"))]
    (is (= :info (type false (code KeeperException$Code/CONNECTIONLOSS))) "it may have happened")
    (is (= :info (type false (code KeeperException$Code/SESSIONEXPIRED))))
    (is (= :info (type false (code KeeperException$Code/OPERATIONTIMEOUT))))
    (is (= :fail (type false (code KeeperException$Code/BADVERSION))))
    (is (= :fail (type true (code KeeperException$Code/CONNECTIONLOSS))) "a read changes nothing")
    (is (= :fail (type false (TimeoutException.))) "no session, so nothing was sent")
    (is (= :CONNECTIONLOSS (:error (zk/outcome {} false (code KeeperException$Code/CONNECTIONLOSS)))))))

(deftest members
  (is (= {1 "n1:2888:3888:participant;2181" 12 "n12:2888:3888:observer"}
         (membership/parse "server.1=n1:2888:3888:participant;2181\nserver.12=n12:2888:3888:observer\nversion=100000000"))))

(deftest what-needs-jepsen-can-be-read
  (let [files (filter #(.endsWith (.getName ^java.io.File %) ".clj") (file-seq (io/file "src")))]
    (is (< 10 (count files)))
    (doseq [^java.io.File file files]
      (with-open [reader (PushbackReader. (io/reader file))]
        (let [forms (doall (take-while #(not= ::end %) (repeatedly #(read {:eof ::end} reader))))]
          (is (= 'ns (ffirst forms)) (str file))
          (is (.endsWith (.replace (.getPath file) "_" "-")
                         (str (.replace (str (second (first forms))) "." "/") ".clj"))
              (str file)))))))
