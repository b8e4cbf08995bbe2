/**
 * A coordinator of map and reduce tasks with its workers, before and after it was protected: the
 * first application of the paper (CheckSync, section 5.1); see {@link
 * io.saucr.services.examples.mapreduce.Coordinator}.
 */
package io.saucr.services.examples.mapreduce;
