/**
 * Scripts drawn from a grammar of Lua expressions: numbers at their limits, texts and fractional
 * positions in texts, formats, patterns, tables, JSON, bits, and replies of scripts. A script
 * catches the errors of each expression separately and shows all of its results, so that one
 * failure does not hide another.
 */
import fc from 'fast-check';

type Text = fc.Arbitrary<string>;

/** Draws Lua code from a template. A drawn text replaces each `${}`. */
function lua(parts: TemplateStringsArray, ...drawn: readonly Text[]): Text {
  return fc
    .tuple(...drawn)
    .map((texts) => parts.map((part, at) => part + (texts[at] ?? '')).join(''));
}

const oneOf = fc.constantFrom;

const number: Text = fc.oneof(
  oneOf('0', '1', '2', '3', '7', '10', '-1', '-7', '0.5', '1.5', '-2.5', '1e3', '255', '256'),
  oneOf(
    '1e14',
    '1e15',
    '1e16',
    '1e100',
    '-1e100',
    '123456789012345',
    '0.1',
    '1/3',
    '1e-5',
    '1e14..""',
  ),
  oneOf(
    '2^31',
    '2^32',
    '-2^31',
    '2^52',
    '2^53',
    '2^53+1',
    '2^63',
    '-2^63',
    '2^64',
    '1e19',
    '2^31-1',
  ),
  oneOf('0/0', '1/0', '-1/0', '0x10', '3.0', '1e308*10', '5e-324', '0.1+0.2', '#"abc"', '.5', '5.'),
);
const index: Text = oneOf(
  '1',
  '2',
  '0',
  '-1',
  '-2',
  '1.5',
  '-1.5',
  '2.9',
  '99',
  '-99',
  '2^32+1',
  '"2"',
  'nil',
);
const text: Text = fc.oneof(
  oneOf('"abc"', '"10"', '" 10 "', '"0x10"', '"1e3"', '"a1b22"', '""', '"a,b,,c"', '"nil"', '"5."'),
  oneOf(
    '"h\\195\\169llo"',
    '"a\\0b"',
    '"  x y  "',
    '"aXbX"',
    '"(a)(b)"',
    '"%d"',
    '"line\\n2\\t"',
    '"inf"',
  ),
  oneOf(
    '"0x1p4"',
    '"0x"',
    '"1e"',
    '"+5"',
    '"- 1"',
    '"1_0"',
    '"\\1\\127\\200\\"\\\\"',
    '("x"):rep(120)',
  ),
);
const piece: Text = oneOf(
  '.',
  'a',
  'b',
  '%d',
  '%a',
  '%w',
  '%s',
  '%S',
  '%p',
  '%u',
  '%x',
  '%z',
  '%g',
  '%.',
  '%%',
  ' ',
  ',',
  '[ab]',
  '[^,]',
  '[a-c%d]',
  '[%w_]',
  '[]a]',
  '[^%s]',
  '[a-]',
  '%bxy',
  '%f[%w]',
  '%f[^%w]',
  'x',
  '-',
);
const item: Text = lua`${piece}${oneOf('', '', '', '*', '+', '-', '?')}`;
const group: Text = fc.oneof(
  { weight: 4, arbitrary: item },
  lua`(${item})`,
  lua`(${item}${item})`,
  oneOf('()', '%1', '%2', '(', ')', '[', '%', '%f', '%b', '%bx', '[a', '[^', '^', '$'),
);
const pattern: Text = lua`"${oneOf('', '', '^')}${group}${fc.oneof(fc.constant(''), group)}${oneOf('', '', '$')}"`;
const replacement: Text = oneOf(
  '"x"',
  '"%1"',
  '"%0%0"',
  '"%2"',
  '""',
  '"%%"',
  '"%"',
  '"%a"',
  '1.5',
  '{a="1",b=false,["1"]=7}',
  'nil',
  'function(x) return x.."!" end',
  'function(x, y) return y end',
  'function() return {} end',
  'true',
);
const directive: Text = lua`"${oneOf('', '<')}%${oneOf('', '-', '+', ' ', '#', '0', '-0', '+ 0')}${oneOf(
  '',
  '',
  '5',
  '12',
  '100',
)}${oneOf('', '', '.0', '.3', '.14', '.17', '.', '.100')}${oneOf(
  ...'ddiuoxXcsqeEfgGaAps',
)}${oneOf('', '>')}"`;
const json: Text = oneOf(
  "'[1,2.0,3e2]'",
  '\'{"a":null}\'',
  "'[]'",
  "'{}'",
  "'[1,'",
  "'1'",
  '\'"x"\'',
  "'[1e400]'",
  "'[0x10]'",
  "'nan'",
  "'[12345678901234567890]'",
  '\'"\\\\u00e9\\\\ud83d\\\\ude00"\'',
  "' [1 , 2 ] '",
  "'01'",
  "'[1.]'",
  '\'{"a":{"b":[true,false]}}\'',
  "'[-]'",
  "'[-1, NaN]'",
  "'[Infinity]'",
  "'[-Infinity]'",
  "'inf'",
  "'[[[]]]'",
  '\'{"1":1,"1":2}\'',
  "'[1]]'",
  "''",
  "'tru'",
  '\'"\\\\u0000"\'',
  "'[1 2]'",
  "'-nan'",
  "'[+1]'",
  "'.5'",
);

function arithmeticOf(value: Text): readonly Text[] {
  return [
    lua`(${number}${oneOf('+', '-', '*', '/', '%', '%', '%', '^')}${number})`,
    lua`(${value}${oneOf('+', '-', '*', '/', '%', '^')}${value})`,
    lua`(${value} ..${value})`,
    lua`(${number}${oneOf('<', '<=', '>', '>=', '==', '~=')}${number})`,
    lua`(${value}${oneOf('<', '<=', '==', '~=')}${value})`,
    lua`-(${value})`,
    lua`tostring(${value})`,
    lua`tonumber(${value})`,
    lua`tonumber(${text},${oneOf('10', '16', '2', '36', '8', '1', '37', '16.5')})`,
  ];
}

function textsOf(value: Text): readonly Text[] {
  return [
    lua`string.format(${directive},${value})`,
    lua`string.format(${directive},${number})`,
    lua`string.format(${directive},${text})`,
    lua`string.format("%s %d",${value})`,
    lua`string.${oneOf('len', 'upper', 'lower', 'reverse', 'byte')}(${value})`,
    lua`string.rep(${text},${oneOf('0', '2', '-1', '3', '1.9', '"2"', '2^32+1')})`,
    lua`string.sub(${text},${index},${index})`,
    lua`string.sub(${value},${index})`,
    lua`string.byte(${text},${index},${index})`,
    lua`string.char(${oneOf('65', '65,66', '0', '255', '256', '-1', '65.9', '"66"', '', '1e9')})`,
    lua`string.gsub(${text},${pattern},${replacement})`,
    lua`string.gsub(${text},${pattern},${replacement},${index})`,
    lua`string.find(${text},${pattern})`,
    lua`string.find(${text},${pattern},${index},${oneOf('true', 'false', 'nil')})`,
    lua`string.match(${text},${pattern})`,
    lua`string.match(${value},${pattern},${index})`,
    lua`(function() local t={} for a,b in string.gmatch(${text},${pattern}) do t[#t+1]=tostring(a)..tostring(b) end return unpack(t) end)()`,
  ];
}

function numbersOf(): readonly Text[] {
  return [
    lua`math.${oneOf('floor', 'ceil', 'abs', 'sqrt', 'modf', 'frexp', 'deg', 'rad')}(${number})`,
    lua`string.format("%.14g",math.${oneOf('exp', 'log', 'log10', 'sin', 'cos', 'tan', 'sinh', 'cosh', 'tanh', 'asin', 'acos', 'atan')}(${number}))`,
    lua`math.${oneOf('max', 'min', 'fmod', 'mod')}(${number},${number})`,
    lua`math.ldexp(${number},${oneOf('0', '1', '-1', '10', '1.5', '2000')})`,
    lua`string.format("%.14g",math.${oneOf('atan2', 'pow')}(${number},${number}))`,
    lua`bit.${oneOf('band', 'bor', 'bxor', 'lshift', 'rshift', 'arshift', 'rol', 'ror')}(${number},${number})`,
    lua`bit.${oneOf('tobit', 'bnot', 'bswap', 'tohex')}(${number})`,
    lua`bit.tohex(${number},${index})`,
  ];
}

function tablesOf(value: Text, table: Text): readonly Text[] {
  return [
    lua`table.concat(${table},${oneOf('","', '""', '1', 'nil')})`,
    lua`table.concat(${table},",",${index},${index})`,
    lua`(function() local t=${table} table.insert(t,(${value})) return #t,t end)()`,
    lua`(function() local t={1,2,3} table.insert(t,${index},(${value})) return #t,t end)()`,
    lua`(function() local t=${table} return table.remove(t),t end)()`,
    lua`(function() local t={1,2,3} return table.remove(t,${index}),t end)()`,
    lua`(function() local t=${table} table.sort(t) return t end)()`,
    lua`(function() local t=${table} table.sort(t,function(a,b) return ${oneOf('a>b', 'true', 'a<=b', 'tostring(a)<tostring(b)', 'false')} end) return t end)()`,
    lua`unpack(${table},${index},${index})`,
    lua`unpack(${table})`,
    lua`select(${fc.oneof(index, oneOf('"#"', '"x"'))},${value},${value})`,
    lua`table.getn(${table})`,
    lua`table.maxn(${table})`,
    lua`#${table}`,
    lua`next(${oneOf('{}', '{1}', '{a=1}', '1')})`,
  ];
}

function othersOf(value: Text, table: Text): readonly Text[] {
  return [
    lua`rawequal(${value},${value})`,
    lua`type(${value})`,
    lua`(not ${value})`,
    lua`(${value} and ${value} or ${value})`,
    lua`(${table})[${value}]`,
    lua`(${value}).x`,
    lua`(${value})()`,
    lua`(${text}):${oneOf('len', 'upper', 'rep', 'nosuch')}(${index})`,
    lua`cjson.encode(${fc.oneof(table, oneOf('{[1]=1,[3]=3}', '{[1]=1,[30]=3}', '{1,2,nil,4}'))})`,
    lua`cjson.encode(${value})`,
    lua`cjson.encode(cjson.decode(${json}))`,
    lua`cjson.decode(${json})`,
    lua`error(${oneOf('"e"', '{err="E x"}', '1', 'nil', '"e",0', '"e",2')})`,
    // redis-server 7.0.15 crashes on an uncaught error that is a table without `err`.
    lua`pcall(error,${oneOf('{}', '"e"', '{err="E x"}', '1', 'nil', '{1}')})`,
    lua`assert(${oneOf('false', 'nil', 'false,"m"', '1,2', 'nil,{err="A b"}', '')})`,
    lua`redis.${oneOf('error_reply', 'status_reply', 'sha1hex')}(${value})`,
    lua`redis.${oneOf('call', 'pcall')}(${oneOf('"get"', '"incr","s"', '"hgetall","h"', '"nosuch"', '"zscore","z","a"', '"smembers","e"', '"set","s",{}', '')})`,
    lua`redis.call("${oneOf('set","s"', 'rpush","l"', 'echo"')},${value})`,
    lua`loadstring("return "..${number})`,
    lua`(loadstring("return ${oneOf('1', '1..2', 'nil', '(', '1e14..')}") or tostring)()`,
    lua`(function() local s=0 for i=${number},${number},${oneOf('1', '-1', '0.25', '3')} do s=s+i if s>50 or s<-50 then break end end return s end)()`,
    lua`(function(...) return select("#",...),... end)(${value},nil)`,
    lua`setmetatable({},{__index=function(_,k) return k end})[${value}]`,
    lua`${oneOf('nosuch', 'nosuch()', 'nosuch.x', 'redis.nosuch', 'redis.nosuch()', 'string.nosuch', '_G.x', '#KEYS', 'ARGV[1]', 'KEYS.x.y')}`,
  ];
}

const { value: expression } = fc.letrec<{ value: string; plain: string; table: string }>((tie) => {
  const value = tie('value');
  const plain = tie('plain');
  const table = tie('table');
  return {
    value: fc.oneof({ depthSize: 'small' }, number, text, plain, plain, plain),
    table: fc.oneof(
      { depthSize: 'small' },
      oneOf('{}', '{1,2,3}', '{3,1,2}', '{"b","a","c"}', '{1,2,nil}', '{a=1}', '{{}}', '{1,"a"}'),
      oneOf(
        '{[1.5]=2}',
        '{[0]=1}',

        '{10,9,8,7,6,5,4,3,2,1}',
      ),
      lua`{${value},${value}}`,
      lua`{a=${value}}`,
    ),
    plain: fc.oneof(
      ...arithmeticOf(value),
      ...textsOf(value),
      ...numbersOf(),
      ...tablesOf(value, table),
      ...othersOf(value, table),
    ),
  };
});

const SHOW = `local function s(v,d)
if type(v)=="number" then return string.format("%.17g",v) end
if type(v)~="table" then return type(v)=="function" and "f" or type(v)=="string" and v or tostring(v) end
if d>4 then return "deep" end
local t={} for k,e in pairs(v) do t[#t+1]=s(k,d+1).."="..s(e,d+1) end
table.sort(t) return "{"..table.concat(t,";").."}" end
local function a(...) local t={} for i=1,select("#",...) do t[i]=type((select(i,...)))..":"..s((select(i,...)),0) end return t end
`;

const reply: Text = oneOf(
  '{double=1.5}',
  '{double=0/0}',
  '{double="3.25"}',
  '{double="x"}',
  '{double=1e100}',
  '{double=-0.0}',
  '{map={a=1}}',
  '{map={}}',
  '{map={[1]={2}}}',
  '{set={a=true}}',
  '{set={}}',
  '{big_number="12345678901234567890"}',
  '{big_number="1\\r2"}',
  '{verbatim_string={format="txt",string="x"}}',
  '{verbatim_string={string="x"}}',
  '{verbatim_string="x"}',
  '{ok="X"}',
  '{ok=""}',
  '{err="X y"}',
  '{err=""}',
  '{ok=1}',
  '{err=1}',
  '{map=1}',
  'true',
  'false',
  'nil',
  '1.9',
  '-1.9',
  '2^63',
  '-2^63',
  '0/0',
  '1e100',
  '{1,nil,3}',
  '{true,false}',
  '{{{}}}',
  'redis.call("hgetall","h")',
  'redis.call("smembers","e")',
  'redis.call("zscore","z","m")',
  'redis.call("get","no")',
  'redis.call("zrange","z",0,-1,"withscores")',
  'redis.call("zadd","z","incr",1.5,"m")',
  'redis.call("mget","no","s")',
  'redis.call("set","s","1")',
  'redis.call("info")~=nil',
  'redis.call("lpop","no")',
  'redis.call("lpop","no",1)',
  'redis.call("set","s","2","nx")',
  'redis.pcall("incr","h")',
  'redis.call("incr","h")',
  'error("x")',
  '"a\\r\\nb"',
  'redis.call("hset","h","f",1)',
  'redis.call("sadd","e","m")',
  'redis.call("zpopmin","z")',
  'redis.call("spop","e",9)',
  'redis.call("zrangebyscore","z","-inf","inf","withscores","limit",0,1)',
  'redis.call("zmscore","z","m","q")',
  'redis.call("zincrby","z",0.1,"m")',
  'redis.call("incrbyfloat","s","0.1")',
  'redis.call("zrank","z","q")',
);

/** A complete script. */
export const luaScript: Text = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(expression, { minLength: 1, maxLength: 5 }).map((all) => {
      const caught = all.map((one) => `a(pcall(function() return ${one} end))`);
      return `${SHOW}return {${caught.join(',\n')}}`;
    }),
  },
  lua`return ${reply}`,
  lua`redis.setresp(${oneOf('3', '3', '2')}) return ${reply}`,
  lua`redis.setresp(3) local r=${reply} local t={} if type(r)=="table" then for k,v in pairs(r) do t[#t+1]=tostring(k).."="..type(v) if type(v)=="table" then for x,y in pairs(v) do t[#t+1]=tostring(x)..":"..tostring(y) end end end end table.sort(t) return {type(r),unpack(t)}`,
  lua`return ${expression}`,
  lua`${oneOf('#!lua', '#!lua flags=no-writes', '#!lua flags=allow-stale')}\nreturn ${reply}`,
  oneOf(
    'return redis.setresp(4)',
    'return redis.setresp()',
    'return 7//2',
    'goto x ::x:: return 1',
    'return 1 & 3',
    'return 1..2',
    'return 1e14..""',
    'return 0x',

    'return 08',
    'return 0xAp1',
    'return 1e+',
    'x = 1',
    'return "\\x41"',
    'return "\\z a"',

    'return "\\u{41}"',
    'return ~1',
    'return "a',
    'return [[a',
    'local t = {} t[nil] = 1',
    'local t = {} t[0/0] = 1',
    'for i = 1, 10, 0 do return i end',
    'return ...',
    'for i = "a", 2 do end',
    'return #5',

    'return return',
    'local x <const> = 1',
    'return -{}',
    'return {} < {}',
    'return {} .. ""',
    'return nil + 1',
    'local a a.b.c = 1',
    'local a = {} a.b.c = 1',
    'KEYS.x.y = 1',
    'return ("x")()',
    'local a = {} a:b()',
    'local function f() return f.x.y end return f()',
    'return tostring(print)',
    'return unpack({}, 1, 1e8)',
    'return string.rep("x", 3, ",")',
    'return xpcall(error, function(e) return e end)',
    'return table.concat({{}})',
  ),
);
