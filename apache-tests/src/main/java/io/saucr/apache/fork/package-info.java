/** What runs inside a forked JVM, beside the server's classes and ZooKeeper's tests. */
package io.saucr.apache.fork;
