/**
 * Programs of the paper on replay whose handlers run in lanes and share locks: {@link
 * io.saucr.services.examples.lanes.LockServer} and {@link
 * io.saucr.services.examples.lanes.Thumbnails}.
 */
package io.saucr.services.examples.lanes;
