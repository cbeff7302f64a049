/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserverhttp.c: the HTTP and WebSocket side of a server.
 *
 * A connection has one request, or becomes a WebSocket.
 */
#include "gsttfxserverhttp.h"

#include <string.h>

#include <libsoup/soup.h>

#include "gsttfxserverflow.h"
#include "gsttfxserverjson.h"

#define API "/api/v1/"
#define SOCKET API "socket"
#define PAGE "/gst-tfx/serve"

#define MAX_MESSAGE 65536
/* A longer body ends the connection at once. */
#define MAX_BODY (1 << 20)
#define MAX_CLIENTS 256
#define MAX_CONNECTIONS 320
#define MAX_REQUESTS 200     /* in a second, of a client */
#define MAX_FLOOD 2000       /* then it is dropped */
#define MAX_WAITING 64       /* requests, while one is running */
#define MAX_QUEUED (1 << 20) /* bytes; then it is dropped */
#define BUSY_QUEUED 65536    /* then it gets no levels */
#define IDLE_S 30
#define PING_S 10
#define MAX_HZ 50

enum
{
  METERS,
  SPECTRUM,
  N_KINDS
};

typedef struct Client
{
  GstTfxServerHttp *http;
  SoupWebsocketConnection *connection;
  GIOStream *flow;
  guint number;
  guint rates_hz[N_KINDS];
  GQueue waiting; /* of JsonObject */
  JsonNode *id;   /* of the request that runs, or NULL */
  gboolean is_running, is_gone;
  gint64 second;
  guint n_requests; /* in it */
} Client;

/* The clients with one rate of one kind. */
typedef struct Group
{
  GstTfxServerHttp *http;
  guint kind, rate_hz, timer;
  guint64 positions[2];
} Group;

struct GstTfxServerHttp
{
  GstTfxServerApi *api;
  SoupServer *soup;
  GSocketService *service;
  GSocketConnection *accepted; /* while its first request begins */
  gchar *address, *token;      /* or NULL */
  GPtrArray *clients;
  Group groups[N_KINDS][MAX_HZ + 1];
  guint n_connections, last_number;
  gint64 second;
  guint n_requests; /* in it, of HTTP */
};

/* ---- bounds --------------------------------------------------------------------------- */

/* Counts a request.  Returns how many there were in this second. */
static guint
count_request (gint64 *second, guint *n_requests)
{
  const gint64 now = g_get_monotonic_time () / G_USEC_PER_SEC;

  if (now != *second)
    *n_requests = 0;
  *second = now;
  return ++*n_requests;
}

/* In a time that does not depend on where they differ. */
static gboolean
is_same_token (const gchar *a, const gchar *b)
{
  const gsize n = strlen (b);
  guint difference = strlen (a) != n;

  for (gsize i = 0; i < n; i++)
    difference |= (guint)(a[i % (strlen (a) + 1)] ^ b[i]);
  return difference == 0;
}

/* ---- WebSocket clients ---------------------------------------------------------------- */

static void run_next (Client *client);

static gboolean
tick (gpointer data)
{
  Group *group = data;
  GstTfxServerHttp *self = group->http;
  JsonObject *event =
      group->kind == METERS
          ? gst_tfx_server_api_make_meters (self->api, group->positions)
          : gst_tfx_server_api_make_spectrum (self->api);
  JsonNode *node = json_node_init_object (json_node_alloc (), event);
  gchar *text = json_to_string (node, FALSE);
  const gsize length = strlen (text);

  for (guint i = 0; i < self->clients->len; i++) {
    Client *client = self->clients->pdata[i];

    if (client->rates_hz[group->kind] != group->rate_hz || client->is_gone ||
        gst_tfx_server_flow_get_queued (client->flow) > BUSY_QUEUED)
      continue;
    gst_tfx_server_flow_queue (client->flow, length);
    soup_websocket_connection_send_text (client->connection, text);
  }
  g_free (text);
  json_node_unref (node);
  json_object_unref (event);
  return G_SOURCE_CONTINUE;
}

/* Starts and stops the timers of groups that have got or lost a client. */
static void
regroup (GstTfxServerHttp *self)
{
  for (guint kind = 0; kind < N_KINDS; kind++) {
    for (guint hz = 1; hz <= MAX_HZ; hz++) {
      Group *group = &self->groups[kind][hz];
      gboolean is_used = FALSE;

      for (guint i = 0; i < self->clients->len && !is_used; i++)
        is_used = ((Client *)self->clients->pdata[i])->rates_hz[kind] == hz;
      if (is_used && !group->timer) {
        *group =
            (Group){ self, kind, hz, g_timeout_add (1000 / hz, tick, group),
              { G_MAXUINT64, G_MAXUINT64 } };
      } else if (!is_used && group->timer) {
        g_source_remove (group->timer);
        group->timer = 0;
      }
    }
  }
}

static gboolean
drop (gpointer data)
{
  Client *client = data;
  GstTfxServerHttp *self = client->http;

  if (client->is_running)
    return G_SOURCE_CONTINUE;
  g_ptr_array_remove (self->clients, client);
  gst_tfx_server_api_set_clients (self->api, self->clients->len);
  regroup (self);
  return G_SOURCE_REMOVE;
}

/* Its connection may be in use: ends it from the main loop. */
static void
begin_drop (Client *client)
{
  if (client->is_gone)
    return;
  client->is_gone = TRUE;
  memset (client->rates_hz, 0, sizeof client->rates_hz);
  g_timeout_add (10, drop, client);
}

static void
send_object (Client *client, JsonObject *object)
{
  JsonNode *node = json_node_init_object (json_node_alloc (), object);
  gchar *text = json_to_string (node, FALSE);

  if (!client->is_gone &&
      soup_websocket_connection_get_state (client->connection) ==
          SOUP_WEBSOCKET_STATE_OPEN) {
    gst_tfx_server_flow_queue (client->flow, strlen (text));
    soup_websocket_connection_send_text (client->connection, text);
    if (gst_tfx_server_flow_get_queued (client->flow) > MAX_QUEUED)
      begin_drop (client);
  }
  g_free (text);
  json_node_unref (node);
}

static void
reply_socket (JsonObject *answer, guint status, gpointer data)
{
  Client *client = data;

  if (client->id)
    json_object_set_member (answer, "id", g_steal_pointer (&client->id));
  send_object (client, answer);
  json_object_unref (answer);
  client->is_running = FALSE;
  run_next (client);
}

static guint
read_rate (JsonObject *in, const gchar *name, guint before)
{
  JsonNode *node = json_object_get_member (in, name);

  if (!node || !JSON_NODE_HOLDS_VALUE (node))
    return before;
  return (guint)(CLAMP (json_node_get_double (node), 0.0, MAX_HZ) + 0.5);
}

static void
subscribe (Client *client, JsonObject *in)
{
  JsonObject *answer = json_object_new (), *ok = json_object_new ();

  client->rates_hz[METERS] = read_rate (in, "meters", client->rates_hz[METERS]);
  client->rates_hz[SPECTRUM] =
      read_rate (in, "spectrum", client->rates_hz[SPECTRUM]);
  regroup (client->http);
  json_object_set_int_member (ok, "meters", client->rates_hz[METERS]);
  json_object_set_int_member (ok, "spectrum", client->rates_hz[SPECTRUM]);
  json_object_set_object_member (answer, "ok", ok);
  reply_socket (answer, SOUP_STATUS_OK, client);
}

/* Runs the next request, if none is running: a client gets its answers in order. */
static void
run_next (Client *client)
{
  JsonObject *in;
  JsonNode *command;
  const gchar *name;

  if (client->is_running || client->is_gone)
    return;
  in = g_queue_pop_head (&client->waiting);
  if (!in)
    return;
  client->is_running = TRUE;
  client->id = json_object_dup_member (in, "id");
  command = json_object_get_member (in, "do");
  name = command && JSON_NODE_HOLDS_VALUE (command)
             ? json_node_get_string (command)
             : NULL;
  if (g_strcmp0 (name, "subscribe") == 0)
    subscribe (client, in);
  else
    gst_tfx_server_api_call (client->http->api, name, in, client->number, FALSE,
        reply_socket, client);
  json_object_unref (in);
}

static void
refuse (Client *client, JsonObject *in, const gchar *why)
{
  JsonObject *answer = gst_tfx_server_api_make_error (why);

  if (in && json_object_has_member (in, "id"))
    json_object_set_member (answer, "id", json_object_dup_member (in, "id"));
  send_object (client, answer);
  json_object_unref (answer);
}

static void
take_message (SoupWebsocketConnection *connection, gint type, GBytes *message,
    gpointer data)
{
  Client *client = data;
  const guint n = count_request (&client->second, &client->n_requests);
  JsonObject *in;
  gsize length;
  const gchar *text = g_bytes_get_data (message, &length);

  if (client->is_gone)
    return;
  gst_tfx_server_flow_note_message (client->flow);
  if (n > MAX_FLOOD) {
    begin_drop (client);
    return;
  }
  in = type == SOUP_WEBSOCKET_DATA_TEXT && length <= MAX_MESSAGE
           ? gst_tfx_server_json_parse (text, length)
           : NULL;
  if (!in) {
    refuse (client, NULL, "a request must be a JSON object");
  } else if (n > MAX_REQUESTS ||
             g_queue_get_length (&client->waiting) >= MAX_WAITING) {
    refuse (client, in, "too many requests");
  } else {
    g_queue_push_tail (&client->waiting, json_object_ref (in));
    run_next (client);
  }
  g_clear_pointer (&in, json_object_unref);
}

static void
take_close (SoupWebsocketConnection *connection, gpointer data)
{
  begin_drop (data);
}

static void
free_client (gpointer data)
{
  Client *client = data;

  g_signal_handlers_disconnect_by_data (client->connection, client);
  g_object_unref (client->connection);
  g_object_unref (client->flow);
  g_queue_clear_full (&client->waiting, (GDestroyNotify)json_object_unref);
  g_clear_pointer (&client->id, json_node_unref);
  g_free (client);
}

/* The client has got the answer to its request for a WebSocket. */
static void
open_socket (SoupServerMessage *message, gpointer data)
{
  GstTfxServerHttp *self = data;
  Client *client = g_new0 (Client, 1);

  g_object_ref (message);
  client->http = self;
  client->number = ++self->last_number;
  client->flow =
      gst_tfx_server_flow_new (soup_server_message_steal_connection (message));
  client->connection = soup_websocket_connection_new (client->flow,
      soup_server_message_get_uri (message), SOUP_WEBSOCKET_CONNECTION_SERVER,
      NULL, NULL, NULL);
  g_queue_init (&client->waiting);
  soup_websocket_connection_set_max_incoming_payload_size (client->connection,
      MAX_MESSAGE);
  soup_websocket_connection_set_keepalive_interval (client->connection, PING_S);
  g_signal_connect (client->connection, "message", G_CALLBACK (take_message),
      client);
  g_signal_connect (client->connection, "closed", G_CALLBACK (take_close),
      client);
  g_ptr_array_add (self->clients, client);
  gst_tfx_server_api_set_clients (self->api, self->clients->len);
  g_object_unref (message);
}

void
gst_tfx_server_http_emit (JsonObject *event, gpointer data)
{
  GstTfxServerHttp *self = data;

  for (guint i = 0; i < self->clients->len; i++)
    send_object (self->clients->pdata[i], event);
}

/* ---- HTTP ----------------------------------------------------------------------------- */

static void
set_json (SoupServerMessage *message, JsonObject *answer, guint status)
{
  JsonNode *node = json_node_init_object (json_node_alloc (), answer);
  gchar *text = json_to_string (node, FALSE);

  soup_server_message_set_status (message, status, NULL);
  soup_server_message_set_response (message, "application/json",
      SOUP_MEMORY_TAKE, text, strlen (text));
  json_node_unref (node);
  json_object_unref (answer);
}

static void
set_error (SoupServerMessage *message, guint status, const gchar *why)
{
  set_json (message, gst_tfx_server_api_make_error (why), status);
}

static void
reply_http (JsonObject *answer, guint status, gpointer data)
{
  SoupServerMessage *message = data;

  set_json (message, answer, status);
  soup_server_message_unpause (message);
  g_object_unref (message);
}

/* Those of a query: numbers and switches where the text is one. */
static JsonObject *
read_query (GHashTable *query)
{
  JsonObject *in = json_object_new ();
  GHashTableIter iter;
  gpointer name, text;

  if (!query)
    return in;
  g_hash_table_iter_init (&iter, query);
  while (g_hash_table_iter_next (&iter, &name, &text)) {
    gchar *end;
    const gdouble number = g_ascii_strtod (text, &end);

    if (end != text && *end == '\0')
      json_object_set_double_member (in, name, number);
    else
      json_object_set_string_member (in, name, text);
  }
  return in;
}

static void
serve_command (GstTfxServerHttp *self, SoupServerMessage *message,
    const gchar *command, GHashTable *query)
{
  const gboolean is_get =
      soup_server_message_get_method (message) == SOUP_METHOD_GET;
  SoupMessageBody *body = soup_server_message_get_request_body (message);
  JsonObject *in;

  if (!is_get && soup_server_message_get_method (message) != SOUP_METHOD_POST) {
    set_error (message, SOUP_STATUS_METHOD_NOT_ALLOWED, "GET or POST");
    return;
  }
  if (count_request (&self->second, &self->n_requests) > MAX_REQUESTS) {
    set_error (message, 429, "too many requests");
    return;
  }
  if (is_get)
    in = read_query (query);
  else if (body->length == 0)
    in = json_object_new ();
  else
    in = gst_tfx_server_json_parse (body->data, (gsize)body->length);
  if (!in) {
    set_error (message, SOUP_STATUS_BAD_REQUEST,
        "the body must be a JSON object");
    return;
  }
  soup_server_message_pause (message);
  gst_tfx_server_api_call (self->api, command, in, 0, is_get, reply_http,
      g_object_ref (message));
  json_object_unref (in);
}

static void
serve_page (SoupServerMessage *message, const gchar *path)
{
  const gchar *name = strcmp (path, "/") == 0 ? "/index.html" : path;
  gchar *resource = g_strconcat (PAGE, name, NULL);
  GBytes *bytes =
      g_resources_lookup_data (resource, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  SoupMessageHeaders *headers =
      soup_server_message_get_response_headers (message);

  if (!bytes) {
    set_error (message, SOUP_STATUS_NOT_FOUND, "there is no such page");
  } else {
    soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
    soup_message_headers_replace (headers, "Content-Type",
        g_str_has_suffix (name, ".css")  ? "text/css; charset=utf-8"
        : g_str_has_suffix (name, ".js") ? "text/javascript; charset=utf-8"
                                         : "text/html; charset=utf-8");
    soup_message_headers_replace (headers, "Cache-Control", "no-cache");
    soup_message_headers_replace (headers, "Content-Security-Policy",
        "default-src 'self'; frame-ancestors 'none'; base-uri 'none'");
    soup_message_body_append_bytes (soup_server_message_get_response_body (
                                        message),
        bytes);
    g_bytes_unref (bytes);
  }
  g_free (resource);
}

/* Whether a host is one that no other site can name: see DNS rebinding. */
static gboolean
is_own_host (GstTfxServerHttp *self, const gchar *header)
{
  GSocketConnectable *address =
      header ? g_network_address_parse (header, 80, NULL) : NULL;
  const gchar *host;
  gboolean is_own;

  if (!address)
    return FALSE;
  host = g_network_address_get_hostname (G_NETWORK_ADDRESS (address));
  is_own = g_hostname_is_ip_address (host) ||
           g_ascii_strcasecmp (host, "localhost") == 0 ||
           (self->address && g_ascii_strcasecmp (host, self->address) == 0);
  g_object_unref (address);
  return is_own;
}

/* A page of another site sends its own origin. */
static gboolean
is_own_origin (const gchar *origin, const gchar *host)
{
  const gchar *authority = strstr (origin, "://");

  return (g_str_has_prefix (origin, "http://") ||
             g_str_has_prefix (origin, "https://")) &&
         g_ascii_strcasecmp (authority + 3, host) == 0;
}

static gboolean
has_token (GstTfxServerHttp *self, SoupMessageHeaders *headers,
    GHashTable *query)
{
  const gchar *given = soup_message_headers_get_one (headers, "Authorization");

  if (!self->token)
    return TRUE;
  if (given && g_ascii_strncasecmp (given, "Bearer ", 7) == 0)
    given += 7;
  else
    given = query ? g_hash_table_lookup (query, "token") : NULL;
  return given && is_same_token (given, self->token);
}

/* Before the body is read. */
static void
check_request (SoupServer *soup, SoupServerMessage *message, const gchar *path,
    GHashTable *query, gpointer data)
{
  GstTfxServerHttp *self = data;
  SoupMessageHeaders *headers =
      soup_server_message_get_request_headers (message);
  const gchar *host = soup_message_headers_get_one (headers, "Host");
  const gchar *origin = soup_message_headers_get_one (headers, "Origin");
  const gboolean is_socket =
      soup_message_headers_get_one (headers, "Upgrade") != NULL;
  const goffset length = soup_message_headers_get_content_length (headers);
  SoupMessageHeaders *answer =
      soup_server_message_get_response_headers (message);

  soup_message_headers_replace (answer, "Connection", "close");
  soup_message_headers_replace (answer, "X-Content-Type-Options", "nosniff");
  soup_message_headers_remove (headers, "Range");
  if (length > MAX_MESSAGE)
    soup_message_body_set_accumulate (soup_server_message_get_request_body (
                                          message),
        FALSE);
  if (length > MAX_BODY)
    g_io_stream_close (g_object_get_data (G_OBJECT (message), "connection"),
        NULL, NULL);
  if (length > MAX_MESSAGE)
    set_error (message, SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE, "too large");
  else if (soup_message_headers_get_encoding (headers) == SOUP_ENCODING_CHUNKED)
    set_error (message, SOUP_STATUS_LENGTH_REQUIRED, "give a length");
  else if (!is_own_host (self, host))
    set_error (message, SOUP_STATUS_FORBIDDEN,
        "the host must be an address, localhost or the name of --listen");
  else if (origin && !is_own_origin (origin, host))
    set_error (message, SOUP_STATUS_FORBIDDEN, "this is another site's page");
  else if ((is_socket || g_str_has_prefix (path, API)) &&
           !has_token (self, headers, query))
    set_error (message, SOUP_STATUS_UNAUTHORIZED, "a token is needed");
  else if (is_socket && self->clients->len >= MAX_CLIENTS)
    set_error (message, SOUP_STATUS_SERVICE_UNAVAILABLE, "too many clients");
}

static void
take_request (SoupServer *soup, SoupServerMessage *message, const gchar *path,
    GHashTable *query, gpointer data)
{
  GstTfxServerHttp *self = data;
  SoupMessageHeaders *headers =
      soup_server_message_get_request_headers (message);

  if (strcmp (path, SOCKET) == 0) {
    if (soup_websocket_server_process_handshake (message, NULL, NULL, NULL,
            NULL))
      g_signal_connect (message, "wrote-informational",
          G_CALLBACK (open_socket), self);
  } else if (g_str_has_prefix (path, API)) {
    serve_command (self, message, path + strlen (API), query);
  } else if (soup_server_message_get_method (message) == SOUP_METHOD_GET ||
             soup_server_message_get_method (message) == SOUP_METHOD_HEAD) {
    serve_page (message, path);
  } else {
    set_error (message, SOUP_STATUS_METHOD_NOT_ALLOWED, "GET");
  }
  (void)headers;
}

/* ---- connections ---------------------------------------------------------------------- */

static void
note_request (SoupServer *soup, SoupServerMessage *message, gpointer data)
{
  GstTfxServerHttp *self = data;

  if (self->accepted)
    g_object_set_data_full (G_OBJECT (message), "connection",
        g_object_ref (self->accepted), g_object_unref);
}

static void
forget_connection (gpointer data, GObject *connection)
{
  ((GstTfxServerHttp *)data)->n_connections--;
}

static gboolean
accept_connection (GSocketService *service, GSocketConnection *connection,
    GObject *source, gpointer data)
{
  GstTfxServerHttp *self = data;
  GSocket *socket = g_socket_connection_get_socket (connection);
  GSocketAddress *local, *remote;

  if (self->n_connections >= MAX_CONNECTIONS)
    return TRUE;
  local = g_socket_connection_get_local_address (connection, NULL);
  remote = g_socket_connection_get_remote_address (connection, NULL);
  if (local && remote) {
    g_socket_set_timeout (socket, IDLE_S);
    g_socket_set_option (socket, 6 /* IPPROTO_TCP */, 1 /* TCP_NODELAY */, 1,
        NULL);
    self->n_connections++;
    g_object_weak_ref (G_OBJECT (connection), forget_connection, self);
    self->accepted = connection;
    soup_server_accept_iostream (self->soup, G_IO_STREAM (connection), local,
        remote, NULL);
    self->accepted = NULL;
  }
  g_clear_object (&local);
  g_clear_object (&remote);
  return TRUE;
}

static guint16
add_address (GstTfxServerHttp *self, GInetAddress *address, guint16 port,
    GError **error)
{
  GSocketAddress *socket = g_inet_socket_address_new (address, port);
  GSocketAddress *bound = NULL;

  if (g_socket_listener_add_address (G_SOCKET_LISTENER (self->service), socket,
          G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL, &bound, error))
    port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (bound));
  else
    port = 0;
  g_clear_object (&bound);
  g_object_unref (socket);
  return port;
}

guint16
gst_tfx_server_http_listen (GstTfxServerHttp *self, GstTfxServerApi *api,
    guint16 port, GError **error)
{
  GInetAddress *address;
  GList *addresses;

  self->api = api;
  if (self->address) {
    addresses = g_resolver_lookup_by_name (g_resolver_get_default (),
        self->address, NULL, error);
    port = addresses ? add_address (self, addresses->data, port, error) : 0;
    g_resolver_free_addresses (addresses);
  } else {
    address = g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV4);
    port = add_address (self, address, port, error);
    g_object_unref (address);
    /* (A machine may have no IPv6.) */
    address = g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV6);
    if (port)
      add_address (self, address, port, NULL);
    g_object_unref (address);
  }
  if (port)
    g_socket_service_start (self->service);
  return port;
}

GstTfxServerHttp *
gst_tfx_server_http_new (const gchar *address, const gchar *token)
{
  GstTfxServerHttp *self = g_new0 (GstTfxServerHttp, 1);

  self->address = g_strdup (address);
  self->token = g_strdup (token);
  self->clients = g_ptr_array_new_with_free_func (free_client);
  self->soup = soup_server_new ("server-header", "gst-tfx", NULL);
  soup_server_add_early_handler (self->soup, NULL, check_request, self, NULL);
  soup_server_add_handler (self->soup, NULL, take_request, self, NULL);
  g_signal_connect (self->soup, "request-started", G_CALLBACK (note_request),
      self);
  self->service = g_socket_service_new ();
  g_socket_service_stop (self->service);
  g_signal_connect (self->service, "incoming", G_CALLBACK (accept_connection),
      self);
  return self;
}

void
gst_tfx_server_http_free (GstTfxServerHttp *self)
{
  g_socket_service_stop (self->service);
  g_socket_listener_close (G_SOCKET_LISTENER (self->service));
  g_object_unref (self->service);
  for (guint i = 0; i < self->clients->len; i++)
    memset (((Client *)self->clients->pdata[i])->rates_hz, 0,
        sizeof ((Client *)0)->rates_hz);
  regroup (self);
  soup_server_disconnect (self->soup);
  g_object_unref (self->soup);
  g_ptr_array_unref (self->clients);
  g_free (self->address);
  g_free (self->token);
  g_free (self);
}
