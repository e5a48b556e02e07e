/**
 * Makes functions compiled by Lua 5.3 compute `%` and `^` as in Lua 5.1. In Lua 5.3, `1e15 % 7.3`
 * is exact, `1 % math.huge` is 1 instead of NaN, and `1 ^ math.huge` is NaN instead of 1. A call
 * inserted after each such instruction recomputes the result. The instruction itself remains for
 * its errors and for metamethods.
 */
import { lua } from 'fengari';
import objects from 'fengari/src/lobject.js';
import { CREATE_ABC, CREATE_ABx, type Instruction, OpCodesI } from 'fengari/src/lopcodes.js';
import type { LuaState } from './lua-values.ts';

/** A compiled function of the interpreter, reduced to the parts that change. */
export interface Prototype {
  code: Instruction[];
  lineinfo: number[];
  readonly k: object[];
  readonly p: readonly Prototype[];
  readonly locvars: readonly { startpc: number; endpc: number }[];
  maxstacksize: number;
}

const { OP_MOD, OP_POW, OP_LOADK, OP_MOVE, OP_CALL } = OpCodesI;
const { OP_JMP, OP_FORPREP, OP_FORLOOP, OP_TFORLOOP } = OpCodesI;
const JUMPS: ReadonlySet<number> = new Set([OP_JMP, OP_FORPREP, OP_FORLOOP, OP_TFORLOOP]);
/** Operands from this number up are constants. Lower operands are registers. */
const CONSTANTS = 256;
/** Maximum number of registers of a function. */
const MOST_REGISTERS = 250;
/** Extra registers for a call: function, two operands, result of the instruction, and a spare. */
const NEEDED = 5;

type Compute = (one: number, other: number) => number;

const COMPUTES: ReadonlyMap<number, Compute> = new Map<number, Compute>([
  [OP_MOD, (one, other) => one - Math.floor(one / other) * other],
  [OP_POW, power],
]);

/** Computes a power. The result is exact if both numbers are integers. */
export function power(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY)) return 1;
  const isExact = Number.isInteger(base) && Number.isInteger(exponent);
  if (isExact && exponent > 0 && exponent <= 1100) return Number(BigInt(base) ** BigInt(exponent));
  return base ** exponent;
}

/** Rewrites the compiled function at `index` and the functions within it. */
export function adaptFunction(state: LuaState, index: number): void {
  adapt(lua.lua_topointer(state, index).p);
}

function adapt(compiled: Prototype): void {
  for (const inner of compiled.p) adapt(inner);
  const { code, lineinfo, maxstacksize } = compiled;
  const isAffected = code.some(({ opcode }) => COMPUTES.has(opcode));
  if (!isAffected || maxstacksize + NEEDED > MOST_REGISTERS) return;
  const places: number[] = [];
  compiled.code = [];
  compiled.lineinfo = [];
  code.forEach((instruction, at) => {
    places.push(compiled.code.length);
    for (const replacement of expanded(instruction, compiled)) {
      compiled.code.push(replacement);
      compiled.lineinfo.push(lineinfo[at] ?? 0);
    }
  });
  const placeOf = (at: number): number => places[at] ?? compiled.code.length;
  code.forEach((instruction, at) => {
    if (!JUMPS.has(instruction.opcode)) return;
    instruction.sBx = placeOf(at + 1 + instruction.sBx) - placeOf(at) - 1;
  });
  for (const local of compiled.locvars) {
    local.startpc = placeOf(local.startpc);
    local.endpc = placeOf(local.endpc);
  }
  compiled.maxstacksize += NEEDED;
}

function expanded(instruction: Instruction, { k, maxstacksize: free }: Prototype): Instruction[] {
  const { opcode, A, B, C } = instruction;
  const compute = COMPUTES.get(opcode);
  if (compute === undefined) return [instruction];
  k.push(new objects.TValue(LIGHT_FUNCTION, computing(compute)));
  const load = (to: number, operand: number): Instruction =>
    operand < CONSTANTS
      ? CREATE_ABC(OP_MOVE, to, operand, 0)
      : CREATE_ABx(OP_LOADK, to, operand - CONSTANTS);
  return [
    CREATE_ABC(opcode, free + 3, B, C),
    CREATE_ABx(OP_LOADK, free, k.length - 1),
    load(free + 1, B),
    load(free + 2, C),
    CREATE_ABC(OP_CALL, free, 4, 2),
    CREATE_ABC(OP_MOVE, A, free, 0),
  ];
}

/** The interpreter's type tag of a function that is not written in Lua. */
const LIGHT_FUNCTION: number = lua.LUA_TFUNCTION | 16;

function computing(compute: Compute): (state: LuaState) => number {
  return (state) => {
    if (!lua.lua_isnumber(state, 1) || !lua.lua_isnumber(state, 2)) return 1;
    lua.lua_pushnumber(state, compute(lua.lua_tonumber(state, 1), lua.lua_tonumber(state, 2)));
    return 1;
  };
}
