(ns saucr.jepsen.db
  "An ensemble of the servers of one distribution: SAUCR's, or Apache's. Each node has it below /opt/zookeeper, and its data
  below /opt/zookeeper-data, on lazyfs where power is lost."
  (:require [clojure.java.io :as io]
            [clojure.string :as str]
            [clojure.tools.logging :refer [info]]
            [jepsen [control :as c]
                    [db :as db]
                    [lazyfs :as lazyfs]
                    [util :refer [await-fn meh]]]
            [jepsen.control.util :as cu]
            [saucr.membership :as membership]
            [saucr.zk :as zk])
  (:import (java.security MessageDigest)))

(def home "/opt/zookeeper")
(def data "/opt/zookeeper-data")
(def state "Files with which the nemesis talks to a server, and its log." "/opt/zookeeper-jepsen")
(def pidfile (str state "/pid"))
(def logfile (str state "/zookeeper.log"))
(def clock-file "By how many seconds the server's wall clock is off." (str state "/clock-seconds"))
(def fsync-file "By how many milliseconds each fsync is slower." (str state "/fsync-ms"))
(def boot-file "Counts losses of power; part of the server's boot id." (str state "/boot"))
(def faults (str state "/faults.so"))
(def client-port 2181)

(defn zoo-cfg
  "The text of zoo.cfg. `saucr?` tells whether the distribution knows the keys of SAUCR; `conf` has further keys, or other values."
  [nodes saucr? boot conf]
  (let [settings (concat
                   [["tickTime" 1000] ["initLimit" 10] ["syncLimit" 5] ["dataDir" data]
                    ["standaloneEnabled" false] ["reconfigEnabled" true] ["skipACL" "yes"]
                    ["4lw.commands.whitelist" "srvr,mntr,ruok"] ["admin.enableServer" false] ["snapCount" 10000]]
                   (when saucr? [["saucr.enabled" true] ["saucr.bootId" boot]]))
        others (remove #(contains? conf (first %)) settings)
        lines (concat (map (fn [[k v]] (str k "=" v)) (concat others conf)) (map #(membership/server-line nodes client-port %) nodes))]
    (str (str/join "\n" lines) "\n")))

(defn- sha256 [file]
  (let [digest (MessageDigest/getInstance "SHA-256")
        bytes (java.nio.file.Files/readAllBytes (.toPath (io/file file)))]
    (apply str (map #(format "%02x" %) (.digest digest bytes)))))

(defn- install!
  "Unpacks the distribution, unless it is there."
  [tarball]
  (let [sum (sha256 tarball)
        mark (str home "/.sha256")]
    (when-not (= sum (meh (c/exec :cat mark)))
      (info "Installing" tarball)
      (c/exec :rm :-rf home)
      (c/exec :mkdir :-p home)
      (c/upload tarball "/opt/zookeeper.tar.gz")
      (c/exec :tar :-xzf "/opt/zookeeper.tar.gz" :-C home "--strip-components=1")
      (c/exec :rm "/opt/zookeeper.tar.gz")
      (c/exec :echo sum :> mark))))

(defn- saucr?
  "Whether the distribution on this node is SAUCR's."
  []
  (str/includes? (c/exec :ls (str home "/lib")) "saucr-core"))

(defn- build-faults! []
  (cu/write-file! (slurp (io/resource "faults.c")) (str state "/faults.c"))
  (c/exec :cc :-shared :-fPIC :-O2 :-o faults (str state "/faults.c") :-ldl))

(defn- configure! [test node]
  (let [boot (str node "-" (c/exec :cat boot-file))
        file (str home "/conf/zoo.cfg")]
    (if (cu/exists? file)
      ;; After a reconfiguration the members are in a file of the server's own, which zoo.cfg names: only the boot id changes.
      (c/exec :sed :-i (str "s/^saucr.bootId=.*/saucr.bootId=" boot "/") file)
      (cu/write-file! (zoo-cfg (:nodes test) (saucr?) boot (:conf test)) file))))

(defn start! [test node]
  (c/su
    (configure! test node)
    (cu/start-daemon!
      {:pidfile pidfile
       :logfile logfile
       :chdir home
       :match-executable? false
       :env (cond-> {:JVMFLAGS (:jvm test) :ZOO_LOG_DIR state}
              (:preload? test) (assoc :LD_PRELOAD faults :FAULT_CLOCK clock-file :FAULT_FSYNC fsync-file))}
      (str home "/bin/zkServer.sh") "start-foreground")))

(defn- signal! [signal]
  (c/su (meh (c/exec :kill (str "-" signal) (c/exec :cat pidfile)))))

(defn kill!
  "Ends the server, and returns when it has ended."
  []
  (c/su
    (signal! "KILL")
    (await-fn #(when (cu/daemon-running? pidfile) (throw (ex-info "still running" {})))
              {:retry-interval 50 :log-interval 10000 :timeout 30000 :log-message "Waiting for the server's end"})
    (c/exec :rm :-f pidfile))
  :killed)

(defn- told
  "Tells lazyfs something. It must listen within a second, which a busy machine may need several times."
  [tell]
  (await-fn tell {:retry-interval 500 :log-interval 10000 :timeout 60000 :log-message "Waiting for lazyfs"}))

(defn lose-power!
  "Ends the server, and takes everything that it did not fsync."
  [filesystem]
  (kill!)
  (c/su
    (told #(lazyfs/lose-unfsynced-writes! filesystem))
    (c/exec :sh :-c (str "echo $(($(cat " boot-file ") + 1)) > " boot-file)))
  :power-lost)

(defn- await-serving
  "Waits until the node's server leads or follows."
  [node]
  (await-fn #(when-not (zk/mode node client-port) (throw (ex-info "does not serve" {:node node})))
            {:retry-interval 500 :log-interval 10000 :timeout 120000 :log-message (str "Waiting for " node)}))

(defrecord Ensemble [filesystem]
  db/DB
  (setup! [_ test node]
    (c/su
      (c/exec :mkdir :-p state)
      (install! (:distribution test))
      (c/exec :rm :-f (str home "/conf/zoo.cfg") (c/lit (str home "/conf/zoo.cfg.dynamic*")))
      (if filesystem
        (do (when-not (cu/exists? lazyfs/bin) (lazyfs/install!))
            (lazyfs/mount! filesystem))
        (c/exec :mkdir :-p data))
      (c/exec :echo "0" :> boot-file)
      (c/exec :echo "0" :> clock-file)
      (c/exec :echo "0" :> fsync-file)
      (c/exec :echo (membership/number (:nodes test) node) :> (str data "/myid"))
      ;; So that a machine that loses power has its number.
      (when filesystem (c/exec :sync :-f (str data "/myid")) (told #(lazyfs/checkpoint! filesystem)))
      (when (:preload? test) (build-faults!)))
    (start! test node)
    (await-serving node))

  (teardown! [_ _ _]
    (c/su
      (signal! "KILL")
      (when filesystem (lazyfs/umount! filesystem))
      (c/exec :rm :-rf data state)))

  db/Primary
  (setup-primary! [_ _ _])
  (primaries [_ test]
    (filterv #(= "leader" (zk/mode % client-port)) (:nodes test)))

  db/Process
  (start! [_ test node] (start! test node))
  (kill! [_ _ _] (kill!))

  db/Pause
  (pause! [_ _ _] (signal! "STOP") :paused)
  (resume! [_ _ _] (signal! "CONT") :resumed)

  db/LogFiles
  (log-files [_ _ _]
    {logfile "zookeeper.log"}))

(defn ensemble
  "The database. With `power?` its data are on lazyfs."
  [power?]
  (->Ensemble (when power? (lazyfs/lazyfs data))))
