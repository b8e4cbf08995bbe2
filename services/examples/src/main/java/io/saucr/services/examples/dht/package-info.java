/**
 * A small distributed hash table that needs no replicas to survive crashes (section 5.3 of the
 * paper); see {@link io.saucr.services.examples.dht.DhtNode}.
 */
package io.saucr.services.examples.dht;
