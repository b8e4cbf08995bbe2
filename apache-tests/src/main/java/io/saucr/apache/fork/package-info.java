/** What runs inside a forked JVM, next to the server's classes and ZooKeeper's tests. */
package io.saucr.apache.fork;
