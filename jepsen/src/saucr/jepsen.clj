(ns saucr.jepsen
  "The command line: test, test-all, serve."
  (:gen-class)
  (:require [clojure.string :as str]
            [jepsen [checker :as checker]
                    [cli :as cli]
                    [generator :as gen]
                    [random :as rand]
                    [tests :as tests]]
            [jepsen.checker.timeline :as timeline]
            [jepsen.os.debian :as debian]
            [jepsen.os :as os]
            [saucr.jepsen.db :as db]
            [saucr.jepsen.nemesis :as nemesis]
            [saucr.jepsen.workloads :as workloads]))

(defn- parse-faults [text]
  (->> (str/split text #",") (remove str/blank?) (map keyword) (remove #{:none}) set))

(defn- parse-conf [text]
  (let [[k v] (str/split text #"=" 2)] [k v]))

(def all-nemeses
  "What test-all goes through."
  [#{} #{:partition} #{:one-way} #{:kill} #{:pause} #{:clock} #{:power} #{:blackout} #{:slow-disk} #{:mode} #{:membership}
   #{:partition :kill :pause :clock :power :slow-disk}])

(def options
  [[nil "--distribution FILE" "Tarball of the servers: SAUCR's or Apache's."
    :missing "--distribution FILE is missing: the tarball of the servers"
    :validate [#(.isFile (java.io.File. ^String %)) "no such file; ./saucr up makes ours"]]
   ["-w" "--workload NAME" (str "One of " (str/join ", " (sort (keys workloads/workloads))) ".")
    :validate [workloads/workloads (str "one of " (str/join ", " (sort (keys workloads/workloads))))]]
   [nil "--nemesis FAULTS" (str "Any of " (str/join "," (sort (map name nemesis/faults))) ", or none.")
    :parse-fn parse-faults
    :validate [#(every? nemesis/faults %) (str "any of " (str/join "," (sort (map name nemesis/faults))))]]
   [nil "--nemesis-interval SECONDS" "About so long between two faults of a kind."
    :default 10 :parse-fn parse-double :validate [#(and % (pos? %)) "a positive number"]]
   ["-r" "--rate HZ" "About so many operations per second, of all clients."
    :default 100 :parse-fn parse-double :validate [#(and % (pos? %)) "a positive number"]]
   [nil "--per-key-limit N" "Operations on one register."
    :default 200 :parse-fn parse-long :validate [#(and % (pos? %)) "a positive number"]]
   [nil "--seed N" "Seed of operations and faults; printed with the results. Threads and servers keep their own schedule."
    :default-fn (fn [_] (rand/long 1000000)) :parse-fn parse-long :validate [some? "a whole number"]]
   [nil "--conf KEY=VALUE" "A further line of zoo.cfg, as forceSync=no; may be repeated."
    :default {} :assoc-fn (fn [m k v] (update m k conj (parse-conf v)))
    :validate [#(re-matches #"[^=\s]+=\S.*" %) "KEY=VALUE"]]
   [nil "--jvm FLAGS" "Flags of the servers' JVMs." :default "-Xmx512m"]
   [nil "--no-os" "Leaves packages and host names of the nodes as they are."]])

(defn- name-of [{:keys [workload nemesis distribution]}]
  (str (str/replace (.getName (java.io.File. ^String distribution)) #"-bin\.tar\.gz$|\.tar\.gz$" "")
       " " workload " " (if (empty? nemesis) "none" (str/join "," (sort (map name nemesis))))))

(defn a-test
  "A test from the options of the command line."
  [opts]
  (let [faults (or (:nemesis opts) #{})
        opts (assoc opts :workload (:workload opts "register") :nemesis faults)
        db (db/ensemble (boolean (some nemesis/on-lazyfs faults)))
        workload ((workloads/workloads (:workload opts)) opts)
        package (nemesis/package-of {:db db :faults faults :interval (:nemesis-interval opts)})]
    (rand/set-seed! (:seed opts))
    (merge tests/noop-test
           (dissoc opts :nemesis :conf)
           {:name (name-of opts)
            :os (if (:no-os opts) os/noop debian/os)
            :db db
            :concurrency (max (:concurrency opts) (:threads workload 1))
            :conf (:conf opts)
            :logging {:overrides {"org.apache.zookeeper" :warn "io.saucr" :warn}}
            ;; Only where it is used: it slows every look at the clock.
            :preload? (boolean (some #{:clock :slow-disk} faults))
            :client (:client workload)
            :nemesis (:nemesis package)
            :checker (checker/compose
                       {:workload (:checker workload)
                        :stats (checker/stats)
                        :exceptions (checker/unhandled-exceptions)
                        :perf (checker/perf {:nemeses (:perf package)})
                        :timeline (timeline/html)})
            :generator (gen/phases
                         (->> (:generator workload)
                              (gen/stagger (/ (:rate opts)))
                              (gen/nemesis (:generator package))
                              (gen/time-limit (:time-limit opts)))
                         (gen/log "Healing")
                         (gen/nemesis (:final-generator package))
                         (gen/sleep (:final-wait workload 10))
                         (when-let [final (:final-generator workload)]
                           (gen/clients (gen/time-limit 60 final))))})))

(defn all-tests
  "Every workload with every nemesis, unless the options name one."
  [opts]
  (for [nemesis (if (:nemesis opts) [(:nemesis opts)] all-nemeses)
        workload (if (:workload opts) [(:workload opts)] (sort (remove #{"all"} (keys workloads/workloads))))]
    (a-test (assoc opts :nemesis nemesis :workload workload))))

(defn -main [& args]
  (cli/run! (merge (cli/single-test-cmd {:test-fn a-test :opt-spec options})
                   (cli/test-all-cmd {:tests-fn all-tests :opt-spec options})
                   (cli/serve-cmd))
            args))
