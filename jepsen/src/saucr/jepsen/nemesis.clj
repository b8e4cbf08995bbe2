(ns saucr.jepsen.nemesis
  "What goes wrong. partition, kill and pause are Jepsen's; the others are here."
  (:require [jepsen [control :as c]
                    [db :as jdb]
                    [generator :as gen]
                    [nemesis :as n]
                    [net :as net]
                    [random :as rand]]
            [jepsen.nemesis.combined :as nc]
            [saucr.jepsen.db :as db]
            [saucr.membership :as membership]))

(defn- package
  "A package of a fault that begins with `start`, a function of test and context that returns a value, and ends with `stop`.
  With `pause` it ends at once, and that many seconds pass before it begins."
  [{:keys [name begin end value interval pause nemesis color]}]
  {:nemesis nemesis
   :generator (if pause
                (cycle [(gen/sleep pause) {:type :info :f begin} {:type :info :f end}])
                (->> (gen/flip-flop (fn [test context] {:type :info :f begin :value (value test context)})
                                    (gen/repeat {:type :info :f end}))
                     (gen/stagger interval)))
   :final-generator {:type :info :f end}
   :perf #{{:name name :start #{begin} :stop #{end} :color color}}})

(defn- on [test nodes f] (c/on-nodes test nodes f))

(defn- nemesis
  "A nemesis from a map of :f to a function of test and value."
  [functions]
  (reify
    n/Reflection
    (fs [_] (set (keys functions)))
    n/Nemesis
    (setup! [this _] this)
    (invoke! [_ test op] (assoc op :value ((functions (:f op)) test (:value op))))
    (teardown! [_ _])))

(defn power
  "Nodes lose power: their servers end, and what they did not fsync is gone. Up to a bare majority at one instant. That all lose
  power at once, where writes are acknowledged from memory, is not survived by design, and not tried."
  [{:keys [db interval]}]
  (package
    {:name "power" :begin :lose-power :end :power-returns :color "#C09BD8" :interval interval
     :value (fn [_ _] (rand/nth [:one :minority :majority :primaries]))
     :nemesis (nemesis
                {:lose-power (fn [test spec]
                               (on test (nc/db-nodes test db spec) (fn [_ _] (db/lose-power! (:filesystem db)))))
                 :power-returns (fn [test _] (on test (:nodes test) db/start!))})}))

(defn blackout
  "All nodes lose power at one instant. What was acknowledged from memory is lost: Apache's servers with forceSync=no serve without
  it, SAUCR's do not serve until an operator decides."
  [{:keys [db interval]}]
  (package
    {:name "blackout" :begin :black-out :end :light-returns :color "#8A8A8A" :pause (* 4 interval)
     :nemesis (nemesis
                {:black-out (fn [test _] (on test (:nodes test) (fn [_ _] (db/lose-power! (:filesystem db)))))
                 :light-returns (fn [test _] (on test (:nodes test) db/start!))})}))

(defn one-way
  "A node hears no other node, and is heard; or it is not heard, and hears. Jepsen's partitions cut both ways."
  [{:keys [interval]}]
  (package
    {:name "one way" :begin :cut-one-way :end :join-ways :color "#E9B0DC" :interval interval
     :value (fn [test _]
              (let [node (rand/nth (:nodes test))
                    others (remove #{node} (:nodes test))]
                ;; By node: from which ones it gets nothing.
                (rand/nth [{node (set others)} (zipmap others (repeat #{node}))])))
     :nemesis (nemesis
                {:cut-one-way (fn [test deaf] (net/drop-all! test deaf) deaf)
                 :join-ways (fn [test _] (net/heal! (:net test) test) :joined)})}))

(defn clock
  "The clock of servers jumps, by up to a day, forward or back. Clocks that only measure never jump, on no machine."
  [{:keys [db interval]}]
  (let [set-clock (fn [seconds] (fn [_ _] (c/su (c/exec :echo seconds :> db/clock-file)) seconds))]
    (package
      {:name "clock" :begin :jump-clock :end :correct-clock :color "#A0E9DB" :interval interval
       :value (fn [_ _] {:nodes nil :seconds (* (rand/nth [-1 1]) (long (Math/pow 10 (rand/double 5))))})
       :nemesis (nemesis
                  {:jump-clock (fn [test {:keys [nodes seconds]}]
                                 (on test (nc/db-nodes test db nodes) (set-clock seconds)))
                   :correct-clock (fn [test _] (on test (:nodes test) (set-clock 0)))})})))

(defn slow-disk
  "Each fsync of some servers takes 10 ms to 3 s longer."
  [{:keys [db interval]}]
  (let [set-delay (fn [ms] (fn [_ _] (c/su (c/exec :echo ms :> db/fsync-file)) ms))]
    (package
      {:name "slow disk" :begin :slow-disk :end :fast-disk :color "#D9D9A0" :interval interval
       :value (fn [_ _] {:nodes (rand/nth [:one :minority :majority :primaries :all]) :ms (rand/nth [10 100 1000 3000])})
       :nemesis (nemesis
                  {:slow-disk (fn [test {:keys [nodes ms]}] (on test (nc/db-nodes test db nodes) (set-delay ms)))
                   :fast-disk (fn [test _] (on test (:nodes test) (set-delay 0)))})})))

(defn mode
  "All but a bare majority of the servers end, and return: SAUCR turns to slow, and back to fast. Now and then one of those that
  are left loses power then, or ends, where power is not lost."
  [{:keys [db interval faults]}]
  (package
    {:name "mode" :begin :bare-majority :end :all-return :color "#E9C4A0" :interval (/ interval 2)
     :value (fn [_ _] (rand/nth [:only :and-one-more]))
     :nemesis (nemesis
                {:bare-majority
                 (fn [test also]
                   (let [nodes (rand/shuffle (:nodes test))
                         [gone left] (split-at (quot (dec (count nodes)) 2) nodes)]
                     (merge (on test gone (fn [_ _] (db/kill!)))
                            (when (= :and-one-more also)
                              (on test [(first left)]
                                  (fn [_ _] (if (faults :power) (db/lose-power! (:filesystem db)) (db/kill!))))))))
                 :all-return (fn [test _] (on test (:nodes test) db/start!))})}))

(defn member
  "A voter is removed by reconfiguration, and added again. Three always stay."
  [{:keys [interval]}]
  (package
    {:name "membership" :begin :remove-member :end :add-members :color "#A0C8E9" :interval interval
     :value (fn [test _] (rand/nth (:nodes test)))
     :nemesis (nemesis
                {:remove-member (fn [test node] (membership/remove-member (:nodes test) db/client-port node))
                 :add-members (fn [test _] (membership/add-missing (:nodes test) db/client-port))})}))

(def own {:one-way one-way :power power :blackout blackout :clock clock :slow-disk slow-disk :mode mode :membership member})
(def faults (into #{:partition :kill :pause} (keys own)))
(def on-lazyfs "Faults for which the servers' data are on lazyfs." #{:power :blackout})

(defn package-of
  "The package of all faults of a set. `opts` has :db, :faults and :interval in seconds."
  [{:keys [faults] :as opts}]
  (let [;; Where a kill is a loss of power, because of the file system, all at once are not killed.
        targets (if (some on-lazyfs faults) [:one :minority :majority :primaries] [:one :minority :majority :primaries :all])
        opts' (assoc opts
                     :partition {:targets [:one :minority-third :majority :majorities-ring :primaries]}
                     :kill {:targets targets}
                     :pause {:targets [:one :minority :majority :primaries :all]})]
    (nc/compose-packages
      (concat
        ;; Not all of Jepsen's packages: some fetch programs when they are set up, needed or not.
        (when (faults :partition) [(nc/partition-package opts')])
        (when (some faults [:kill :pause]) [(nc/db-package opts')])
        (for [[fault make] own :when (faults fault)]
          (make opts))))))
