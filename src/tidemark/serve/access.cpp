// Who may ask for what.
#include <algorithm>
#include <array>

#include "tidemark/serve/api.h"

namespace tidemark::serve {

namespace {

/// Takes as long whatever the difference.
bool are_equal(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i] ^ b[b.empty() ? 0 : i % b.size()]);
  }
  return difference == 0;
}

/// "name:8501" → "name", "[::1]:8501" → "::1".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

/// A number with dots or colons: a name that is looked up could be anybody's.
bool is_address(std::string_view host) {
  if (host.find(':') != std::string_view::npos) return true;
  return !host.empty() && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

void check_token(const ServerOptions& options, std::string_view authorization) {
  constexpr std::string_view kBearer = "Bearer ";
  if (options.token.empty()) return;
  if (!authorization.starts_with(kBearer) ||
      !are_equal(authorization.substr(kBearer.size()), options.token)) {
    refuse(Code::unauthenticated, "a token is needed: Authorization: Bearer …");
  }
}

void check_site(const ServerOptions& options, const HttpRequest& request) {
  if (!options.token.empty()) return;  // a page of another site does not have it
  const std::string_view host = without_port(request.host);
  const auto& known = options.hosts;
  // A server that only this machine reaches is asked by its address or as localhost. Another name
  // that leads here is a page's that had its name looked up anew.
  if (is_loopback(options.http.address) && !host.empty() && !is_loopback(host) &&
      !is_address(host) && std::find(known.begin(), known.end(), host) == known.end()) {
    refuse(Code::permission_denied, "the request is for '", host.substr(0, 200),
           "'; this server is localhost. --allow-host gives it other names");
  }
  if (request.method == "GET") return;  // answers are not shown to pages of other sites
  constexpr std::array<std::string_view, 2> kOwnPages = {"same-origin", "none"};
  const bool is_foreign_fetch =
      !request.fetch_site.empty() &&
      std::find(kOwnPages.begin(), kOwnPages.end(), request.fetch_site) == kOwnPages.end();
  const size_t name = request.origin.find("://");
  const bool is_foreign_origin =
      !request.origin.empty() &&
      (name == std::string_view::npos || request.origin.substr(name + 3) != request.host);
  if (is_foreign_fetch || is_foreign_origin) {
    refuse(
        Code::permission_denied,
        "a page of another site may not use this server; give it a token (--token-file) and send "
        "that");
  }
}

void check_admin(const ServerOptions& options, bool is_from_here) {
  if (options.admin == Admin::with_token && !options.token.empty()) return;
  if (options.admin == Admin::local && (is_from_here || !options.token.empty())) return;
  refuse(Code::permission_denied, "models are not loaded or unloaded by request here: that takes ",
         options.admin == Admin::nobody ? "--admin other than none"
         : options.admin == Admin::local
             ? "a client on this machine, or a token (--token-file)"
             : "a token (--token-file), or --admin local for clients on "
               "this machine");
}

}  // namespace tidemark::serve
