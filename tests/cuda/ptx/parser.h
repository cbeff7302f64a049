/* SPDX-License-Identifier: LGPL-2.1-or-later
 * parser.h: PTX from text to instructions: parse.cc goes through the text,
 * decode.cc makes an instruction of a statement. */
#ifndef PTX_PARSER_H
#define PTX_PARSER_H

#include "ptx.h"

namespace ptx {
typedef std::vector<std::string> Strings;

inline bool
starts (const std::string &s, const char *with)
{
  return s.compare (0, strlen (with), with) == 0;
}

inline std::string
trim (const std::string &s)
{
  size_t a = s.find_first_not_of (" \t\r\n"),
         b = s.find_last_not_of (" \t\r\n");

  return a == std::string::npos ? "" : s.substr (a, b - a + 1);
}

/* At the commas outside of brackets. */
Strings split (const std::string &s);

/* Of "u32", in bytes. */
unsigned size_of_type (const std::string &type);

struct Register
{
  char size; /* '4', '8' or 'p' */
  uint32_t offset;
};

/* The names in a kernel's statements, and the kernel. */
struct Scope
{
  std::string origin;
  int line = 1;
  int compute = 0; /* that of .target: 90 for 9.0 */
  std::unique_ptr<Kernel> kernel;
  std::map<std::string, Register> registers;
  std::map<uint32_t, uint32_t> bytes_of;  /* of a register's offset */
  std::map<std::string, int64_t> symbols; /* of param and shared space */
  std::map<std::string, int> labels;
  std::vector<std::pair<size_t, std::string>> targets; /* of branches */
  std::map<std::pair<char, uint64_t>, uint32_t> constants;
};

[[noreturn]] void refuse (const Scope &scope, const std::string &what);

/* Appends the instruction that the statement is. */
void decode (Scope &scope, const std::string &statement);
} // namespace ptx

#endif
