// Judges the histories of io.saucr.history.PorcupineHistories with Porcupine: reads them from
// standard input, prints a digest of the input and then 1 (linearizable) or 0 for each, 100 a line.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/anishathalye/porcupine"
)

const (
	initial = -1 // the value before the first write
	nothing = -9 // requires or writes nothing
	never   = -1 // has no answer: may take effect at any later time, or not at all
)

type call struct {
	register, required, written int64
	answered                    bool
}

var register = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byRegister := map[int64][]porcupine.Operation{}
		for _, op := range history {
			r := op.Input.(call).register
			byRegister[r] = append(byRegister[r], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range byRegister {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() interface{} { return int64(initial) },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		value, c := state.(int64), input.(call)
		fits := c.required == nothing || c.required == value
		if !fits {
			// Without an answer it may just as well have had no effect.
			return !c.answered, state
		}
		if c.written != nothing {
			value = c.written
		}
		return true, value
	},
}

func main() {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%x\n", sha256.Sum256(input))
	lines := bufio.NewScanner(bytes.NewReader(input))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var rows [][6]int64
		if err := json.Unmarshal(lines.Bytes(), &rows); err != nil {
			panic(err)
		}
		var history []porcupine.Operation
		for _, row := range rows {
			end := row[3]
			if end == never {
				end = math.MaxInt64
			}
			history = append(history, porcupine.Operation{
				ClientId: int(row[0]),
				Input:    call{row[1], row[4], row[5], row[3] != never},
				Call:     row[2],
				Return:   end,
			})
		}
		if porcupine.CheckOperations(register, history) {
			fmt.Print("1")
		} else {
			fmt.Print("0")
		}
		if n%100 == 0 {
			fmt.Println()
		}
	}
}
