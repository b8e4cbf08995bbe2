/**
 * A workflow with a saga: a trip is reserved at one store after the other, and cancelled where one
 * of them is sold out. Its services are a group that speculates; see {@link
 * io.saucr.services.examples.travel.Trips}.
 */
package io.saucr.services.examples.travel;
