/* SPDX-License-Identifier: LGPL-2.1-or-later
 * decode.cc: a statement of PTX, as an instruction. */
#include <cctype>
#include <cstdlib>

#include "parser.h"

namespace ptx {
/* At the points. */
static Strings
split_opcode (const std::string &s)
{
  Strings out (1);

  for (char ch : s) {
    if (ch == '.')
      out.emplace_back ();
    else
      out.back () += ch;
  }
  return out;
}

static Operand
operand (Scope &scope, const std::string &s, char size)
{
  Operand o;
  uint64_t value;
  auto r = scope.registers.find (s);

  if (r != scope.registers.end ()) {
    if (r->second.size != size)
      refuse (scope, s + " has another size than it is used with");
    o.offset = r->second.offset;
    return o;
  }
  auto symbol = scope.symbols.find (s);
  if (symbol != scope.symbols.end ())
    value = (uint64_t)symbol->second;
  else if (starts (s, "0f") || starts (s, "0F") || starts (s, "0d") ||
           starts (s, "0D"))
    value = strtoull (s.c_str () + 2, NULL, 16);
  else if (isdigit ((unsigned char)s[0]) || s[0] == '-')
    value = s[0] == '-' ? (uint64_t)strtoll (s.c_str (), NULL, 0)
                        : strtoull (s.c_str (), NULL, 0);
  else
    refuse (scope, "operand " + s);
  if (size != '8')
    value = (uint32_t)value;
  auto known = scope.constants.find ({ size, value });
  o.is_constant = 1;
  if (known != scope.constants.end ()) {
    o.offset = known->second;
    return o;
  }
  o.offset = (uint32_t)scope.kernel->constants.size ();
  if (size == 'p') {
    uint32_t mask = value ? ALL : 0;
    scope.kernel->constants.resize (o.offset + 64);
    memcpy (&scope.kernel->constants[o.offset], &mask, 4);
  } else {
    unsigned bytes = size == '8' ? 8 : 4;
    scope.kernel->constants.resize (o.offset + bytes * WARP);
    for (int l = 0; l < WARP; l++)
      memcpy (&scope.kernel->constants[o.offset + bytes * l], &value, bytes);
  }
  scope.constants[{ size, value }] = o.offset;
  return o;
}

static Operand
target (Scope &scope, const std::string &s, char size)
{
  if (s == "_") {
    Operand o;
    o.offset = scope.kernel->register_bytes =
        (scope.kernel->register_bytes + 63) / 64 * 64;
    scope.bytes_of[o.offset] = 8 * WARP;
    scope.kernel->register_bytes += 8 * WARP;
    return o;
  }
  auto r = scope.registers.find (s);
  if (r == scope.registers.end () || r->second.size != size)
    refuse (scope, "target " + s);
  return { r->second.offset, 0 };
}

/* [register+number], [symbol+number] or [number]. */
static void
address (Scope &scope, Instruction &i, const std::string &s)
{
  std::string inside = trim (s.substr (1, s.size () - 2));
  size_t plus = inside.find ('+', 1);
  std::string base = trim (inside.substr (0, plus));

  if (plus != std::string::npos)
    i.displacement = strtoll (inside.c_str () + plus + 1, NULL, 0);
  auto r = scope.registers.find (base);
  i.narrow_address = r != scope.registers.end () && r->second.size == '4';
  i.s[0] = operand (scope, base, i.narrow_address ? '4' : '8');
}

static void
memory (Scope &scope, Instruction &i, const Strings &op, const Strings &args)
{
  bool is_load = op[0] == "ld";
  const std::string &type = op.back ();
  const std::string &list = args[is_load ? 0 : 1];
  Strings parts = list[0] == '{' ? split (list.substr (1, list.size () - 2))
                                 : Strings{ list };

  for (size_t k = 1; k + 1 < op.size (); k++) {
    if (op[k] == "param")
      i.space = S_PARAM;
    else if (op[k] == "shared")
      i.space = S_SHARED;
    else if (op[k] == "global")
      i.space = S_GLOBAL;
    else if (op[k] == "volatile" || op[k] == "relaxed")
      i.is_strong = i.is_volatile = true;
    else if (op[k] == "cg")
      i.is_strong = true;
    else if (op[k] == "v2" || op[k] == "v4")
      i.n_vector = (uint8_t)(op[k][1] - '0');
    else if (op[k] != "nc" && op[k] != "gpu" && op[k] != "sys")
      refuse (scope, "modifier ." + op[k]);
  }
  /* A generic address: cvta of anything but global memory is refused, so it
   * can be no other. */
  if (i.space == S_NONE)
    i.space = S_GLOBAL;
  if (parts.size () != i.n_vector)
    refuse (scope, "a vector of another length");
  /* A wide register may hold a narrow type. */
  auto r = scope.registers.find (parts[0]);
  bool wide = r != scope.registers.end () ? r->second.size == '8'
                                          : size_of_type (type) == 8;
  i.run = is_load ? find_load (type, wide) : find_store (type, wide);
  if (!i.run)
    refuse (scope, "memory type " + type);
  i.kind = i.space == S_PARAM    ? K_PARAM
           : i.space == S_SHARED ? (is_load ? K_LOAD_SHARED : K_STORE_SHARED)
           : is_load             ? K_LOAD_GLOBAL
                                 : K_STORE_GLOBAL;
  address (scope, i, args[is_load ? 1 : 0]);
  for (size_t k = 0; k < parts.size (); k++) {
    char c = wide ? '8' : '4';
    if (is_load)
      i.d[k] = target (scope, parts[k], c);
    else
      i.s[1 + k] = operand (scope, parts[k], c);
  }
}

/* mma.sync.aligned.SHAPE.row.col.f64.f64.f64.f64 {d}, {a}, {b}, {c}; ".rn", which
 * it is anyway, may be anywhere. */
static void
matrix (Scope &scope, Instruction &i, const Strings &op, const Strings &args)
{
  static const Strings rest = { "row", "col", "f64", "f64", "f64", "f64" };
  Strings parts;
  size_t n = 0;

  for (const std::string &part : op) {
    if (part != "rn")
      parts.push_back (part);
  }
  const Matrix *m = parts.size () == 10 ? find_matrix (parts[3]) : nullptr;
  if (!m || parts[1] != "sync" || parts[2] != "aligned" ||
      Strings (parts.begin () + 4, parts.end ()) != rest)
    refuse (scope, "a product of matrices that is not known: " + i.text);
  if (scope.compute < m->compute)
    refuse (scope, "a product of matrices that .target has not: " + i.text);
  const unsigned lengths[] = { m->n_c, m->n_a, m->n_b, m->n_c };
  if (args.size () != 4)
    refuse (scope, "operands of " + i.text);
  for (size_t k = 0; k < 4; k++) {
    const std::string &list = args[k];
    Strings names;
    if (list[0] == '{')
      names = split (list.substr (1, list.size () - 2));
    if (names.size () != lengths[k])
      refuse (scope, "a vector of another length");
    for (size_t j = 0; j < names.size (); j++) {
      if (k == 0)
        i.d[j] = target (scope, names[j], '8');
      else
        i.s[n++] = operand (scope, names[j], '8');
    }
  }
  /* Who meets: all lanes, always. */
  i.s[n] = operand (scope, "0xffffffff", '4');
  i.run = m->run;
  i.kind = K_FP64;
  i.flow = Flow::collective;
  /* M N K / 32; n_a is M K / 32. */
  i.n_multiplies = (uint8_t)(8 * m->n_a);
}

void
decode (Scope &scope, const std::string &whole)
{
  std::string s = whole;
  Instruction i;

  i.line = scope.line;
  i.text = whole;
  if (s[0] == '@') {
    size_t end = s.find_first_of (" \t");
    i.negated = s[1] == '!';
    i.predicate = (int32_t)operand (scope,
        s.substr (i.negated ? 2 : 1, end - (i.negated ? 2 : 1)), 'p')
                      .offset;
    s = trim (s.substr (end));
  }
  size_t end = s.find_first_of (" \t");
  std::string opcode = s.substr (0, end);
  Strings args = split (end == std::string::npos ? "" : s.substr (end));
  Strings op = split_opcode (opcode);

  if (op[0] == "bra") {
    i.flow = Flow::branch;
    i.kind = K_CONTROL;
    scope.targets.push_back ({ scope.kernel->code.size (), args.at (0) });
    scope.kernel->code.push_back (i);
    return;
  }
  if (op[0] == "ld" || op[0] == "st") {
    memory (scope, i, op, args);
    scope.kernel->code.push_back (i);
    return;
  }
  if (opcode == "atom.global.add.u32") {
    i.run = find_store ("atom.add.u32", false);
    i.kind = K_ATOMIC;
    i.space = S_GLOBAL;
    i.is_strong = i.is_volatile = true;
    i.d[0] = target (scope, args.at (0), '4');
    address (scope, i, args.at (1));
    i.s[1] = operand (scope, args.at (2), '4');
    scope.kernel->code.push_back (i);
    return;
  }
  if (op[0] == "mma") {
    matrix (scope, i, op, args);
    scope.kernel->code.push_back (i);
    return;
  }
  if (opcode == "prefetch.global.L1" || opcode == "prefetch.global.L2") {
    i.run = find_prefetch ();
    i.kind = K_LOAD_GLOBAL;
    i.space = S_GLOBAL;
    address (scope, i, args.at (0));
    scope.kernel->code.push_back (i);
    return;
  }
  if (op[0] == "mov" && args.size () == 2) {
    if (args[0][0] == '{') {
      Strings to = split (args[0].substr (1, args[0].size () - 2));
      opcode = "unpack";
      args = { to.at (0), to.at (1), args[1] };
    } else if (args[1][0] == '{') {
      Strings from = split (args[1].substr (1, args[1].size () - 2));
      opcode = "pack";
      args = { args[0], from.at (0), from.at (1) };
    } else if (find_operation (args[1])) {
      opcode = args[1]; /* a special register */
      args.pop_back ();
    }
  }
  const Spec *spec = find_operation (opcode);
  if (!spec)
    refuse (scope, "opcode " + opcode);
  /* d|p is two targets; without p the second has no place. */
  size_t n_to = spec->to.size ();
  if (n_to == 2 && opcode != "unpack") {
    size_t bar = args.at (0).find ('|');
    if (bar != std::string::npos) {
      i.d[1] = target (scope, args[0].substr (bar + 1), spec->to[1]);
      args[0] = args[0].substr (0, bar);
    }
    n_to = 1;
  }
  if (args.size () != n_to + spec->from.size ())
    refuse (scope, "operands of " + whole);
  i.run = spec->run;
  i.kind = spec->kind;
  i.flow = spec->flow;
  for (size_t k = 0; k < n_to; k++)
    i.d[k] = target (scope, args[k], spec->to[k]);
  for (size_t k = 0; k < spec->from.size (); k++)
    i.s[k] = operand (scope, args[n_to + k], spec->from[k]);
  scope.kernel->code.push_back (i);
}

} // namespace ptx
