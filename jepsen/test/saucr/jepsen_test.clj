(ns saucr.jepsen-test
  "Our checkers and Jepsen's own on the same histories, right and wrong ones. Needs Jepsen: lein test :only saucr.jepsen-test"
  (:require [clojure.test :refer [deftest is testing]]
            [jepsen [checker :as checker]
                    [history :as h]]
            [saucr.jepsen.workloads :as workloads]
            [saucr.workload.bank :as bank]))

(defn- pairs [f type values]
  (mapcat (fn [value] [{:type :invoke :f f :value value :process 0} {:type type :f f :value value :process 0}]) values))

(defn- verdicts
  "What ours says, and what Jepsen's says."
  [checker & parts]
  (let [history (h/history (map-indexed #(assoc %2 :index %1 :time %1) (apply concat parts)))
        result (checker/check checker {} history {})]
    [(:valid? (:ours result)) (:valid? (:jepsens result))]))

(deftest both-say-the-same
  (testing "a set"
    (let [adds (pairs :add :ok [1 2])]
      (is (= [true true] (verdicts workloads/set-checker adds (pairs :read :ok [#{1 2}]))))
      (is (= [true true] (verdicts workloads/set-checker adds (pairs :add :info [3]) (pairs :read :ok [#{1 2 3}]))))
      (is (= [false false] (verdicts workloads/set-checker adds (pairs :read :ok [#{1}]))) "lost")
      (is (= [false false] (verdicts workloads/set-checker adds (pairs :read :ok [#{1 2 9}]))) "from nowhere")
      (is (= [:unknown :unknown] (verdicts workloads/set-checker adds)) "never read")))
  (testing "a bank"
    (let [all (zipmap bank/accounts (repeat 10))]
      (is (= [true true] (verdicts workloads/bank-checker (pairs :read :ok [all]))))
      (is (= [false false] (verdicts workloads/bank-checker (pairs :read :ok [(assoc all 0 5)]))) "another total")
      (is (= [false false] (verdicts workloads/bank-checker (pairs :read :ok [(assoc all 0 -1 1 21)]))) "below zero")))
  (testing "ids and tokens"
    (doseq [[checker f] [[workloads/ids-checker :generate] [workloads/mutex-checker :hold]]]
      (is (= [true true] (verdicts checker (pairs f :ok [1 2 5]))))
      (is (= [false false] (verdicts checker (pairs f :ok [1 2 2]))) "twice")))
  (testing "once"
    (let [adds (pairs :add :ok [1 2])]
      (is (= [true true] (verdicts workloads/once-checker adds (pairs :read :ok [[1 2]]))))
      (is (= [true true] (verdicts workloads/once-checker adds (pairs :read :ok [[1]]) (pairs :read :ok [[2 1]]))))
      (is (= [false false] (verdicts workloads/once-checker adds (pairs :read :ok [[1]]))) "lost")
      (is (= [false false] (verdicts workloads/once-checker adds (pairs :read :ok [[1 2 9]]))) "from nowhere"))))

(deftest ours-know-more
  (is (= [false true] (verdicts workloads/set-checker (pairs :add :fail [1]) (pairs :read :ok [#{1}]))) "failed, and there")
  (is (= [false true] (verdicts workloads/ids-checker (pairs :generate :ok [2 1]))) "ids that fall")
  (is (= [false true] (verdicts workloads/once-checker (pairs :add :ok [1]) (pairs :read :ok [[1 1]]))) "twice"))
