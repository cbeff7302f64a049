/* SPDX-License-Identifier: LGPL-2.1-or-later
 * parse.cc: the text of PTX: kernels, their parameters, registers, labels. */
#include <cctype>
#include <cstdlib>

#include "parser.h"

namespace ptx {
Strings
split (const std::string &s)
{
  Strings out;
  int depth = 0;
  std::string part;

  for (char ch : s) {
    depth += ch == '{' || ch == '[' || ch == '(';
    depth -= ch == '}' || ch == ']' || ch == ')';
    if (ch == ',' && depth == 0) {
      out.push_back (trim (part));
      part.clear ();
    } else {
      part += ch;
    }
  }
  if (!trim (part).empty ())
    out.push_back (trim (part));
  return out;
}

unsigned
size_of_type (const std::string &type)
{
  if (type == "pred")
    return 1;
  return (unsigned)atoi (type.c_str () + 1) / 8;
}

void
refuse (const Scope &scope, const std::string &what)
{
  throw std::runtime_error (
      scope.origin + ":" + std::to_string (scope.line) + ": " + what);
}

namespace {
class Parser {
public:
  Parser (const std::string &text, const std::string &origin) : text (text)
  {
    scope.origin = origin;
  }

  std::map<std::string, std::unique_ptr<Kernel>> kernels;

  void all (void);

private:
  const std::string &text;
  size_t at = 0;
  Scope scope;

  std::string statement (void);
  void space (void);
  void entry (void);
  void parameters (const std::string &list);
  void declare (const std::string &s);
  void body (void);
};

void
Parser::space (void)
{
  for (; at < text.size (); at++) {
    if (text[at] == '\n')
      scope.line++;
    else if (text[at] == '/' && text[at + 1] == '/')
      while (at + 1 < text.size () && text[at + 1] != '\n')
        at++;
    else if (!isspace ((unsigned char)text[at]))
      return;
  }
}

/* Up to a semicolon, a label's colon, or a brace that begins or ends a scope. */
std::string
Parser::statement (void)
{
  std::string s;

  space ();
  if (at < text.size () && (text[at] == '{' || text[at] == '}'))
    return std::string (1, text[at++]);
  for (; at < text.size (); at++) {
    if (text[at] == '/' && text[at + 1] == '/') {
      while (at + 1 < text.size () && text[at + 1] != '\n')
        at++;
      continue;
    }
    if (text[at] == '\n')
      scope.line++;
    if (text[at] == ';') {
      at++;
      return trim (s);
    }
    s += text[at];
    if (text[at] == ':' && s.find_first_of (" \t") == std::string::npos) {
      at++;
      return s;
    }
  }
  return trim (s);
}

void
Parser::all (void)
{
  for (space (); at < text.size (); space ()) {
    size_t end = text.find ('\n', at);
    std::string first = text.substr (at, end - at);

    if (starts (first, ".version") || starts (first, ".target") ||
        starts (first, ".address_size")) {
      size_t sm = first.find ("sm_");
      if (sm != std::string::npos)
        scope.compute = atoi (first.c_str () + sm + 3);
      at = end;
    } else if (first.find (".entry") != std::string::npos) {
      entry ();
    } else if (starts (first, ".extern .shared")) {
      std::string s = statement ();
      size_t name = s.find_last_of (" \t") + 1;
      scope.symbols[s.substr (name, s.find ('[') - name)] = 0;
    } else {
      refuse (scope, "not understood: " + first);
    }
  }
}

void
Parser::parameters (const std::string &list)
{
  for (const std::string &p : split (list)) {
    size_t align = 0, size = 1;
    size_t name = p.find_last_of (" \t") + 1, bracket = p.find ('[');
    size_t a = p.find (".align"), type = p.rfind ('.', name);

    size = size_of_type (trim (p.substr (type + 1, name - type - 1)));
    align = a == std::string::npos ? size : (size_t)atoi (p.c_str () + a + 6);
    if (bracket != std::string::npos)
      size *= (size_t)atoll (p.c_str () + bracket + 1);
    scope.kernel->param_size =
        (scope.kernel->param_size + align - 1) / align * align;
    scope.symbols[p.substr (name,
        bracket == std::string::npos ? bracket : bracket - name)] =
        (int64_t)scope.kernel->param_size;
    scope.kernel->param_size += size;
  }
}

void
Parser::entry (void)
{
  size_t name = text.find (".entry", at) + 6, open = text.find ('(', at);
  size_t close = text.find (')', open), brace = text.find ('{', close);
  std::string properties = text.substr (close, brace - close);
  size_t max = properties.find (".maxntid");

  scope.kernel.reset (new Kernel);
  scope.kernel->name = trim (text.substr (name, open - name));
  scope.kernel->origin = scope.origin;
  scope.kernel->register_bytes = 256; /* offset 0 means none */
  if (max != std::string::npos)
    scope.kernel->max_threads = (unsigned)atoi (properties.c_str () + max + 8);
  scope.registers.clear ();
  scope.bytes_of.clear ();
  scope.labels.clear ();
  scope.targets.clear ();
  scope.constants.clear ();
  parameters (text.substr (open + 1, close - open - 1));
  for (; at <= brace; at++)
    scope.line += text[at] == '\n';
  body ();
}

void
Parser::declare (const std::string &s)
{
  size_t space1 = s.find_first_of (" \t"), dot = s.find ('.', space1);
  size_t space2 = s.find_first_of (" \t", dot);
  std::string type = s.substr (dot + 1, space2 - dot - 1);
  char size = type == "pred" ? 'p' : size_of_type (type) == 8 ? '8' : '4';
  unsigned bytes = size == 'p' ? 4 : size == '8' ? 8 * WARP : 4 * WARP;

  if (size_of_type (type) > 8)
    refuse (scope, "registers of type " + type);
  if (size != 'p')
    scope.kernel->register_bytes =
        (scope.kernel->register_bytes + 63) / 64 * 64;
  for (const std::string &name : split (s.substr (space2))) {
    size_t less = name.find ('<');
    int n = less == std::string::npos ? 1 : atoi (name.c_str () + less + 1);

    for (int i = 0; i < n; i++) {
      std::string full = less == std::string::npos
                             ? name
                             : name.substr (0, less) + std::to_string (i);
      scope.registers[full] = { size, scope.kernel->register_bytes };
      scope.bytes_of[scope.kernel->register_bytes] = bytes;
      scope.kernel->register_bytes += bytes;
    }
  }
}

void
Parser::body (void)
{
  int depth = 1;

  while (depth > 0) {
    std::string s = statement ();

    if (s.empty () && at >= text.size ())
      refuse (scope, "the end within a kernel");
    if (s == "{" || s == "}")
      depth += s == "{" ? 1 : -1;
    else if (s.empty () || starts (s, ".pragma"))
      continue;
    else if (starts (s, ".reg"))
      declare (s);
    else if (s.back () == ':')
      scope.labels[s.substr (0, s.size () - 1)] =
          (int)scope.kernel->code.size ();
    else if (s[0] == '.')
      refuse (scope, "directive " + s);
    else
      decode (scope, s);
  }
  for (auto &t : scope.targets) {
    auto label = scope.labels.find (t.second);
    if (label == scope.labels.end ())
      refuse (scope, "label " + t.second);
    scope.kernel->code[t.first].target = label->second;
  }
  allocate (*scope.kernel, scope.bytes_of);
  kernels[scope.kernel->name] = std::move (scope.kernel);
}

} // namespace

std::map<std::string, std::unique_ptr<Kernel>>
parse (const std::string &text, const std::string &origin)
{
  Parser parser (text, origin);

  parser.all ();
  return std::move (parser.kernels);
}
} // namespace ptx
