/** What each model and each format is, for people who choose one by its name. */

/** By the name of the model, the weaker first. */
export const aboutModels: ReadonlyMap<string, string> = new Map([
  ['register', 'a read returns what the last write wrote'],
  ['cas-register', 'a register that also compares and sets'],
  ['versioned-register', 'a register that counts its writes'],
  ['kv', 'a map from keys to texts: get, put, append, cas, delete'],
  ['counter', 'an increment adds, a read returns the sum'],
  ['semaphore', 'so many permits; --init says how many'],
  ['lease', 'a lock that may expire at any time, unseen'],
  ['mutex', 'granted when free, released by its owner'],
  ['anonymous-mutex', 'granted when free, released by anybody'],
  ['reentrant-mutex', 'its owner may take it again'],
  ['fenced-mutex', 'a mutex whose grants have rising tokens'],
  ['reentrant-fenced-mutex', 'the same, reentrant'],
  ['fenced-register', 'accepts a write iff its token is at least the highest'],
  ['strict-fenced-register', 'accepts a write iff its token is above the highest'],
  ['fenced-register-with-reads', 'a fenced register whose reads register their token too'],
]);

/** By the name of the format: how a record of it looks. */
export const aboutFormats: ReadonlyMap<string, string> = new Map([
  ['jepsen-log', 'INFO  jepsen.util - 3 :invoke :write 4'],
  ['porcupine', '{:process 3, :type :invoke, :f :put, :key "x", :value "4"}'],
  ['edn', 'the events of Jepsen, Knossos, Maelstrom: a map each, or one vector of them'],
  ['json', '[{"process":3,"type":"invoke","f":"write","value":4}, …], as elle-cli takes it'],
  ['operations', '{"ClientId":3,"Input":{"op":"put","key":"x","value":"4"},"Call":10,"Return":30}'],
  ['jsonl', 'fencepost’s own, a line an event, in the order in which they happened:'],
]);
