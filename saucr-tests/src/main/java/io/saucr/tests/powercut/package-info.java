/** Real power cuts of real servers under load: recovery and durability, scenario by scenario. */
package io.saucr.tests.powercut;
