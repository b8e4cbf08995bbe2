/**
 * A maximal independent set of a graph that is split over several services (section 5.2 of the
 * paper); see {@link io.saucr.services.examples.independentset.Part}.
 */
package io.saucr.services.examples.independentset;
