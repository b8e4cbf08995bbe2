/**
 * {@code bin/saucr}: what an operator asks the servers of a real ensemble, SAUCR's or Apache's, and
 * orders them to do. It knows servers by what they answer over the network, and depends on the
 * ZooKeeper client alone.
 */
package io.saucr.tool;
