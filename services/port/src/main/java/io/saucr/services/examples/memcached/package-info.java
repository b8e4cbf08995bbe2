/**
 * A memcached server of another project, ported: see {@link
 * io.saucr.services.examples.memcached.CacheService}.
 */
package io.saucr.services.examples.memcached;
