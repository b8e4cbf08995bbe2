/**
 * An auction house and a bank, two services that know nothing of each other's crashes (the paper's
 * kBay); {@link io.saucr.services.examples.auction.AuctionDemo} kills them again and again.
 */
package io.saucr.services.examples.auction;
