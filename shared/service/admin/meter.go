package admin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Calls is what an organisation asked of the API in one month, in UTC.
type Calls struct {
	Total       int64            `json:"total"`
	ByOperation map[string]int64 `json:"byOperation"`
}

// meteredCall is a call that is not in its organisation's Calls yet.
type meteredCall struct {
	Organisation string    `json:"organisation"`
	Operation    string    `json:"operation"`
	Key          string    `json:"key,omitempty"` // id of the key that it was made with
	At           time.Time `json:"at"`
}

// MeteredKeys is the pattern of the partitions in which calls are noted, for
// rights to them alone.
const MeteredKeys = "calls#*"

const (
	// meterPartitions spreads calls that come at the same time: DynamoDB takes
	// a thousand writes a second in one partition, and each is one read a minute
	// when nothing happens.
	meterPartitions = 4
	// meterKeep is how long a call waits to be counted. It is counted within
	// minutes; what is left after that belongs to an installation at rest.
	meterKeep = 90 * 24 * time.Hour
)

// MeterCall notes a call of the API for its organisation and key, once for each id
// of a request. It is one write, put if absent: SettleCalls adds it up later.
// It returns the store's errors.
func (s *Service) MeterCall(ctx context.Context, request, organisation, keyID, operation string) error {
	now := s.now()
	sum := sha256.Sum256([]byte(request))
	key := meterKey(int(sum[0])%meterPartitions, hex.EncodeToString(sum[:16]))
	var b batch
	b.put(key, 0, meteredCall{organisation, operation, keyID, now}).ExpiresAt = now.Add(meterKeep)
	err := s.write(ctx, &b)
	if conflictOn(err, key) {
		return nil
	}
	return err
}

// SettleCalls adds noted calls to their organisations' months, notes the hour in
// which keys were last used, and returns how many calls there were. What it adds it removes in the same transaction, so a call
// counts once, whoever settles at the same time and wherever one stops.
// It returns the store's errors.
func (s *Service) SettleCalls(ctx context.Context) (settled int, err error) {
	for partition := range meterPartitions {
		for {
			n, err := s.settleSome(ctx, partition)
			settled += n
			if err != nil {
				return settled, err
			}
			if n == 0 {
				break
			}
		}
	}
	return settled, nil
}

// counted are the calls of an organisation's month, keyUse is the row of a key, while
// calls are added to them.
type (
	counted struct {
		calls    Calls
		revision int64
	}
	keyUse struct {
		entry    keyEntry
		revision int64
		later    bool // the hour is another than the stored one
	}
)

func (s *Service) countedCalls(ctx context.Context, key store.Key) (*counted, error) {
	calls, revision, err := readOr[Calls](ctx, s, key)
	if calls.ByOperation == nil {
		calls.ByOperation = map[string]int64{}
	}
	return &counted{calls, revision}, err
}

// at notes a use of the key. Only its hour is kept: a busy key is written once an
// hour.
func (u *keyUse) at(t time.Time) {
	if hour := t.Truncate(time.Hour); hour.After(u.entry.UsedAt) {
		u.entry.UsedAt, u.later = hour, true
	}
}

// settleSome settles as many calls of a partition as one transaction takes.
func (s *Service) settleSome(ctx context.Context, partition int) (settled int, err error) {
	err = s.transact(ctx, func() error {
		settled = 0
		page, err := s.opt.Store.Query(ctx, store.Query{PK: meterKey(partition, "").PK, Limit: store.MaxTransaction - 1})
		if err != nil {
			return err
		}
		sums := map[store.Key]*counted{}
		uses := map[store.Key]*keyUse{}
		var b batch
		for _, rec := range page.Records {
			var c meteredCall
			if err := json.Unmarshal(rec.Value, &c); err != nil {
				return errors.Join(errors.New("record of a call"), err)
			}
			key, row := callsKey(c.Organisation, month(c.At)), keyRow(c.Organisation, c.Key)
			sum, use := sums[key], uses[row]
			writes := len(sums) + len(uses) + len(b.deletes) + 1
			if sum == nil {
				writes++
			}
			if c.Key != "" && use == nil {
				writes++
			}
			if writes > store.MaxTransaction {
				break
			}
			if sum == nil {
				if sum, err = s.countedCalls(ctx, key); err != nil {
					return err
				}
				sums[key] = sum
			}
			sum.calls.Total++
			sum.calls.ByOperation[c.Operation]++
			if c.Key != "" {
				if use == nil {
					use = &keyUse{}
					if use.entry, use.revision, err = readOr[keyEntry](ctx, s, row); err != nil {
						return err
					}
					uses[row] = use
				}
				use.at(c.At)
			}
			b.remove(rec.Key, rec.Revision)
			settled++
		}
		if settled == 0 {
			return nil
		}
		for key, sum := range sums {
			b.put(key, sum.revision, sum.calls)
		}
		for row, use := range uses {
			if use.later && use.revision > 0 {
				b.put(row, use.revision, use.entry)
			}
		}
		return s.write(ctx, &b)
	})
	if err != nil {
		return 0, err
	}
	return settled, nil
}

// Calls returns what an organisation asked of the API in the month of a time, as
// far as it is settled. It returns the store's errors.
func (s *Service) Calls(ctx context.Context, organisation string, at time.Time) (Calls, error) {
	c, _, err := readOr[Calls](ctx, s, callsKey(organisation, month(at)))
	return c, err
}
