/**
 * A computation of minutes, before and after it was protected: the third application of the paper
 * (CheckSync, section 5.1); see {@link io.saucr.services.examples.product.Product}.
 */
package io.saucr.services.examples.product;
