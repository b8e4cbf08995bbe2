(defproject io.saucr/jepsen "0.2.0"
  :description "Jepsen tests of SAUCR ZooKeeper, and of Apache ZooKeeper to compare"
  :license {:name "Apache License 2.0"
            :url "https://www.apache.org/licenses/LICENSE-2.0"}
  :main saucr.jepsen
  :dependencies [[org.clojure/clojure "1.12.5"]
                 [jepsen "0.3.13"]
                 [org.apache.zookeeper/zookeeper "3.9.5"
                  :exclusions [ch.qos.logback/logback-core
                               ch.qos.logback/logback-classic
                               org.slf4j/slf4j-api]]
                 ;; Not yet on Maven Central: README.md says how to install it.
                 [io.saucr/saucr-once "0.2.0"
                  :exclusions [org.slf4j/slf4j-api]]]
  :jvm-opts ["-Djava.awt.headless=true"]
  :repl-options {:init-ns saucr.jepsen})
