(ns saucr.history
  "Looks into histories: the operations as they were invoked and completed, in the order of time.")

(defn of
  "The operations of one :f and :type."
  [history f type]
  (filter #(and (= f (:f %)) (= type (:type %))) history))

(defn values
  "Their values, in order."
  [history f type]
  (into (sorted-set) (map :value) (of history f type)))
