/** What reproduces the paper: its table 2, and how soon servers react, its figure 11. */
package io.saucr.crash.paper;
