/**
 * The entry points: {@code Boot} is what the patched ZooKeeper calls, {@code ServerAssembly} puts a
 * server together, and {@code StartCheck} looks at configuration and disk before anything starts.
 * These classes know all packages below; none of those knows them.
 */
package io.saucr.server;
