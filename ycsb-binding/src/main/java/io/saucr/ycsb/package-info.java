/** The YCSB binding for ZooKeeper; needs YCSB's core and the ZooKeeper client, nothing else. */
package io.saucr.ycsb;
