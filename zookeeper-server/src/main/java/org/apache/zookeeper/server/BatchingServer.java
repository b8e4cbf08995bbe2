package org.apache.zookeeper.server;

/**
 * A server that handles a request in the thread that reads it, and answers of one stretch together:
 * its clients' connections may collect what they send.
 */
public interface BatchingServer {}
