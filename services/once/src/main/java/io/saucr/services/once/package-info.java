/**
 * ZooKeeper operations that happen exactly once, across ConnectionLoss, session expiry and the
 * client's own crash. Usable alone, with nothing else of the library.
 */
package io.saucr.services.once;
