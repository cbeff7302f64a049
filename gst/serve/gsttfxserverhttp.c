/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserverhttp.c: the HTTP and WebSocket side of a server.
 *
 * A connection has one request, or becomes a WebSocket.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include <libsoup/soup.h>

#include "gsttfxserver.h"

#define API "/api/v1/"
#define PAGE "/gst-tfx/serve"

#define MAX_MESSAGE 65536
#define MAX_CLIENTS 256
#define MAX_CONNECTIONS 320
#define MAX_REQUESTS 200     /* in a second, of a client */
#define MAX_FLOOD 2000       /* then it is dropped */
#define MAX_WAITING 64       /* requests, while one is running */
#define MAX_QUEUED (1 << 20) /* bytes; then it is dropped */
#define BUSY_QUEUED 65536    /* then it gets no levels */
#define IDLE_S 30
#define PING_S 10
#define MAX_HZ GST_TFX_SERVER_BLOCKS_HZ

enum
{
  METERS,
  SPECTRUM,
  N_KINDS
};
static const gchar *const kinds[] = { "meters", "spectrum" };

/* How many requests there were in a second. */
typedef struct Pace
{
  gint64 second;
  guint n;
} Pace;

typedef struct Client
{
  GstTfxServerHttp *http;
  SoupWebsocketConnection *connection;
  GIOStream *flow;
  guint number;
  guint rates_hz[N_KINDS];
  GQueue waiting; /* of GVariant, requests */
  GVariant *id;   /* of the one that runs, boxed; or NULL */
  gboolean is_running, is_gone;
  gboolean is_camilla; /* it has the commands of CamillaDSP, and no events */
  guint64 seen[GST_TFX_SERVER_CAMILLA_LEVELS];
  Pace pace;
} Client;

struct GstTfxServerHttp
{
  GstTfxServerApi *api;
  SoupServer *soup;
  GSocketService *service;
  const gchar *address, *host, *token; /* or NULL */
  GPtrArray *clients;
  guint n_connections, last_number, timer;
  GQueue silent;  /* connections without a good request, the oldest first */
  gint64 tick_us; /* when the next block ends */
  Pace pace;      /* of HTTP */
};

static guint
count_request (Pace *pace)
{
  const gint64 now = g_get_monotonic_time () / G_USEC_PER_SEC;

  if (now != pace->second)
    *pace = (Pace){ now, 0 };
  return ++pace->n;
}

/* ---- sending to WebSocket clients ----------------------------------------------------- */

/* After all requests of the client, and not from within its connection. */
static gboolean
drop (gpointer data)
{
  Client *client = data;
  GstTfxServerHttp *self = client->http;

  if (client->is_running)
    return G_SOURCE_CONTINUE;
  g_ptr_array_remove (self->clients, client);
  self->api->n_clients = self->clients->len;
  return G_SOURCE_REMOVE;
}

static void
begin_drop (Client *client)
{
  if (!client->is_gone)
    g_timeout_add (10, drop, client);
  client->is_gone = TRUE;
}

static void
send_text (Client *client, const gchar *text, gsize most_queued)
{
  if (client->is_gone ||
      gst_tfx_server_flow_get_queued (client->flow) > most_queued ||
      soup_websocket_connection_get_state (client->connection) !=
          SOUP_WEBSOCKET_STATE_OPEN)
    return;
  gst_tfx_server_flow_queue (client->flow, strlen (text));
  soup_websocket_connection_send_text (client->connection, text);
  if (gst_tfx_server_flow_get_queued (client->flow) > MAX_QUEUED)
    begin_drop (client);
}

static void
emit_event (GVariant *event, gpointer data)
{
  GstTfxServerHttp *self = data;
  g_autofree gchar *text = gst_tfx_server_json_print (event);

  for (guint i = 0; i < self->clients->len; i++) {
    Client *client = self->clients->pdata[i];

    if (!client->is_camilla)
      send_text (client, text, MAX_QUEUED);
  }
}

/* The number of blocks before the n-th event at a rate. */
static guint64
get_position (guint64 n, guint rate_hz)
{
  return (n * MAX_HZ + rate_hz - 1) / rate_hz;
}

/* Ends a block, and sends its levels to the clients for which it is time. */
static gboolean
tick (gpointer data)
{
  GstTfxServerHttp *self = data;
  GstTfxServerStream *stream = self->api->stream;
  const gint64 now_us = g_get_monotonic_time ();

  gst_tfx_server_stream_advance (stream);
  for (guint kind = 0; kind < N_KINDS; kind++) {
    gchar *texts[MAX_HZ + 1] = { NULL };

    for (guint i = 0; i < self->clients->len; i++) {
      Client *client = self->clients->pdata[i];
      const guint hz = client->rates_hz[kind];
      const guint64 n = stream->n_blocks * hz / MAX_HZ;

      if (n == 0 || stream->n_blocks != get_position (n, hz))
        continue;
      if (!texts[hz])
        texts[hz] = gst_tfx_server_json_print (
            kind == METERS ? gst_tfx_server_api_make_meters (self->api,
                                 get_position (n - 1, hz))
                           : gst_tfx_server_api_make_spectrum (self->api));
      send_text (client, texts[hz], BUSY_QUEUED);
    }
    for (guint hz = 1; hz <= MAX_HZ; hz++)
      g_free (texts[hz]);
  }
  /* (The delays of a timer that repeats would add up.) */
  self->tick_us = MAX (self->tick_us + G_USEC_PER_SEC / MAX_HZ,
      now_us - G_USEC_PER_SEC / 2);
  self->timer = g_timeout_add ((guint)(MAX (self->tick_us - now_us, 0) / 1000),
      tick, self);
  return G_SOURCE_REMOVE;
}

/* ---- requests of WebSocket clients ------------------------------------------------------ */

static void run_next (Client *client);

/* id: boxed, or NULL. */
static void
answer_with_id (Client *client, GVariant *answer, GVariant *id)
{
  g_autoptr (GVariant) owned = g_variant_take_ref (answer);
  g_autofree gchar *text = NULL;
  GVariantDict dict;

  g_variant_dict_init (&dict, owned);
  if (id)
    g_variant_dict_insert_value (&dict, "id", id);
  text = gst_tfx_server_json_print (g_variant_dict_end (&dict));
  send_text (client, text, MAX_QUEUED);
}

static void
reply_socket (GVariant *answer, guint status, gpointer data)
{
  Client *client = data;

  answer_with_id (client, answer, client->id);
  g_clear_pointer (&client->id, g_variant_unref);
  client->is_running = FALSE;
  run_next (client);
}

static void
subscribe (Client *client, GVariant *in)
{
  for (guint kind = 0; kind < N_KINDS; kind++) {
    g_autoptr (GVariant) given = g_variant_lookup_value (in, kinds[kind], NULL);
    gdouble number;

    if (gst_tfx_server_json_get_number (given, &number))
      client->rates_hz[kind] = (guint)(CLAMP (number, 0.0, MAX_HZ) + 0.5);
  }
  reply_socket (g_variant_new_parsed ("{'ok': <{'meters': <%u>, 'spectrum': "
                                      "<%u>}>}",
                    client->rates_hz[METERS], client->rates_hz[SPECTRUM]),
      SOUP_STATUS_OK, client);
}

/* A client gets its answers in the order of its requests. */
static void
run_next (Client *client)
{
  g_autoptr (GVariant) in = client->is_running || client->is_gone
                                ? NULL
                                : g_queue_pop_head (&client->waiting);
  const gchar *command = NULL;

  if (!in)
    return;
  client->is_running = TRUE;
  client->id = g_variant_lookup_value (in, "id", NULL);
  g_variant_lookup (in, "do", "&s", &command);
  if (client->is_camilla)
    gst_tfx_server_camilla_call (client->http->api, in, client->number,
        client->seen, reply_socket, client);
  else if (g_strcmp0 (command, "subscribe") == 0)
    subscribe (client, in);
  else
    gst_tfx_server_api_call (client->http->api, command, in, client->number,
        FALSE, reply_socket, client);
}

static void
take_message (SoupWebsocketConnection *connection, gint type, GBytes *message,
    gpointer data)
{
  Client *client = data;
  const guint n = count_request (&client->pace);
  const gchar *why = "a request must be a JSON object";
  g_autoptr (GVariant) in = NULL, id = NULL;
  g_autofree gchar *object = NULL;
  gsize length;
  const gchar *text = g_bytes_get_data (message, &length);

  gst_tfx_server_flow_note_message (client->flow);
  if (n > MAX_FLOOD)
    begin_drop (client);
  if (client->is_gone)
    return;
  if (type == SOUP_WEBSOCKET_DATA_TEXT && length <= MAX_MESSAGE) {
    object =
        g_strdup_printf (client->is_camilla ? "{\"command\": %s}" : "%s", text);
    in = gst_tfx_server_json_parse (object, strlen (object));
  }
  if (in && n <= MAX_REQUESTS && client->waiting.length < MAX_WAITING) {
    g_queue_push_tail (&client->waiting, g_steal_pointer (&in));
    run_next (client);
    return;
  }
  if (in) {
    why = "too many requests";
    id = g_variant_lookup_value (in, "id", NULL);
  }
  answer_with_id (client, gst_tfx_server_json_error (why, NULL, NULL), id);
}

static void
free_client (gpointer data)
{
  Client *client = data;

  g_signal_handlers_disconnect_by_data (client->connection, client);
  g_object_unref (client->connection);
  g_object_unref (client->flow);
  g_queue_clear_full (&client->waiting, (GDestroyNotify)g_variant_unref);
  g_clear_pointer (&client->id, g_variant_unref);
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
  client->is_camilla =
      strcmp (g_uri_get_path (soup_server_message_get_uri (message)), "/") == 0;
  client->flow =
      gst_tfx_server_flow_new (soup_server_message_steal_connection (message));
  client->connection = soup_websocket_connection_new (client->flow,
      soup_server_message_get_uri (message), SOUP_WEBSOCKET_CONNECTION_SERVER,
      NULL, NULL, NULL);
  g_queue_init (&client->waiting);
  for (guint i = 0; i < GST_TFX_SERVER_CAMILLA_LEVELS; i++)
    client->seen[i] = self->api->stream->n_blocks;
  soup_websocket_connection_set_max_incoming_payload_size (client->connection,
      MAX_MESSAGE);
  soup_websocket_connection_set_keepalive_interval (client->connection, PING_S);
  g_signal_connect (client->connection, "message", G_CALLBACK (take_message),
      client);
  g_signal_connect_swapped (client->connection, "closed",
      G_CALLBACK (begin_drop), client);
  g_ptr_array_add (self->clients, client);
  self->api->n_clients = self->clients->len;
  g_object_unref (message);
}

/* ---- HTTP ----------------------------------------------------------------------------- */

/* answer: new. */
static void
set_answer (SoupServerMessage *message, GVariant *answer, guint status)
{
  gchar *text = gst_tfx_server_json_print (answer);

  soup_server_message_set_status (message, status, NULL);
  soup_server_message_set_response (message, "application/json",
      SOUP_MEMORY_TAKE, text, strlen (text));
}

static void
set_error (SoupServerMessage *message, guint status, const gchar *why)
{
  set_answer (message, gst_tfx_server_json_error (why, NULL, NULL), status);
}

static void
reply_http (GVariant *answer, guint status, gpointer data)
{
  SoupServerMessage *message = data;

  set_answer (message, answer, status);
  soup_server_message_unpause (message);
  g_object_unref (message);
}

/* Those of a query, or NULL: numbers where the text is one. */
static GVariant *
read_query (GHashTable *query)
{
  GVariantDict dict;
  GHashTableIter iter;
  gpointer name, text;
  gchar *end;

  g_variant_dict_init (&dict, NULL);
  if (query)
    g_hash_table_iter_init (&iter, query);
  while (query && g_hash_table_iter_next (&iter, &name, &text)) {
    const gdouble number = g_ascii_strtod (text, &end);

    g_variant_dict_insert_value (&dict, name,
        end != text && *end == '\0' ? g_variant_new_double (number)
                                    : gst_tfx_server_json_string (text));
  }
  return g_variant_take_ref (g_variant_dict_end (&dict));
}

static void
serve_command (GstTfxServerHttp *self, SoupServerMessage *message,
    const gchar *command, GHashTable *query)
{
  const gboolean is_post =
      soup_server_message_get_method (message) == SOUP_METHOD_POST;
  SoupMessageBody *body = soup_server_message_get_request_body (message);
  g_autoptr (GVariant) in =
      is_post && body->length > 0
          ? gst_tfx_server_json_parse (body->data, (gsize)body->length)
          : read_query (is_post ? NULL : query);

  if (count_request (&self->pace) > MAX_REQUESTS) {
    set_error (message, 429, "too many requests");
  } else if (!in) {
    set_error (message, SOUP_STATUS_BAD_REQUEST,
        "the body must be a JSON object");
  } else {
    soup_server_message_pause (message);
    gst_tfx_server_api_call (self->api, command, in, 0, !is_post, reply_http,
        g_object_ref (message));
  }
}

static void
serve_page (SoupServerMessage *message, const gchar *path)
{
  const gchar *name = strcmp (path, "/") == 0 ? "/index.html" : path;
  g_autofree gchar *resource = g_strconcat (PAGE, name, NULL);
  g_autoptr (GBytes) bytes =
      g_resources_lookup_data (resource, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  SoupMessageHeaders *headers =
      soup_server_message_get_response_headers (message);

  if (!bytes) {
    set_error (message, SOUP_STATUS_NOT_FOUND, "there is no such page");
    return;
  }
  soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
  soup_message_headers_replace (headers, "Content-Type",
      g_str_has_suffix (name, ".css")  ? "text/css; charset=utf-8"
      : g_str_has_suffix (name, ".js") ? "text/javascript; charset=utf-8"
                                       : "text/html; charset=utf-8");
  soup_message_headers_replace (headers, "Cache-Control", "no-cache");
  soup_message_headers_replace (headers, "Content-Security-Policy",
      "default-src 'self'; img-src data:; frame-ancestors 'none'; base-uri "
      "'none'");
  soup_message_body_append_bytes (soup_server_message_get_response_body (
                                      message),
      bytes);
}

/* ---- who may ask ------------------------------------------------------------------------ */

/* Compares in a time that does not depend on where they differ. */
static gboolean
has_token (GstTfxServerHttp *self, SoupMessageHeaders *headers,
    GHashTable *query)
{
  const gchar *given = soup_message_headers_get_one (headers, "Authorization");
  const gsize n = self->token ? strlen (self->token) : 0;
  guint difference = 0;

  if (given && g_ascii_strncasecmp (given, "Bearer ", 7) == 0)
    given += 7;
  else
    given = query ? g_hash_table_lookup (query, "token") : NULL;
  if (!self->token || !given || strlen (given) != n)
    return !self->token;
  for (gsize i = 0; i < n; i++)
    difference |= (guint)(given[i] ^ self->token[i]);
  return difference == 0;
}

/* Whether a host is one that no other site can name (DNS rebinding). */
static gboolean
is_own_host (GstTfxServerHttp *self, const gchar *header)
{
  g_autoptr (GSocketConnectable) address =
      header ? g_network_address_parse (header, 80, NULL) : NULL;
  const gchar *host =
      address ? g_network_address_get_hostname (G_NETWORK_ADDRESS (address))
              : "";

  return g_hostname_is_ip_address (host) ||
         g_ascii_strcasecmp (host, "localhost") == 0 ||
         (self->address && g_ascii_strcasecmp (host, self->address) == 0) ||
         (self->host && g_ascii_strcasecmp (host, self->host) == 0);
}

/* Before the body is read. */
static void
check_request (SoupServer *soup, SoupServerMessage *message, const gchar *path,
    GHashTable *query, gpointer data)
{
  GstTfxServerHttp *self = data;
  SoupMessageHeaders *in = soup_server_message_get_request_headers (message);
  SoupMessageHeaders *out = soup_server_message_get_response_headers (message);
  const gchar *host = soup_message_headers_get_one (in, "Host");
  const gchar *origin = soup_message_headers_get_one (in, "Origin");
  g_autofree gchar *own_http = g_strconcat ("http://", host, NULL);
  g_autofree gchar *own_https = g_strconcat ("https://", host, NULL);
  const gboolean is_socket =
      soup_message_headers_get_one (in, "Upgrade") != NULL;
  const gboolean is_large =
      soup_message_headers_get_content_length (in) > MAX_MESSAGE ||
      soup_message_headers_get_encoding (in) == SOUP_ENCODING_CHUNKED;

  soup_message_headers_replace (out, "Connection", "close");
  soup_message_headers_replace (out, "X-Content-Type-Options", "nosniff");
  soup_message_headers_remove (in, "Range");
  soup_message_body_set_accumulate (soup_server_message_get_request_body (
                                        message),
      !is_large);
  if (is_large)
    set_error (message, SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE,
        "the body must have a length of at most 64 KiB");
  else if (!is_own_host (self, host))
    set_error (message, SOUP_STATUS_FORBIDDEN,
        "the host must be an address, localhost or the name of --listen or "
        "--host");
  else if (origin && g_ascii_strcasecmp (origin, own_http) != 0 &&
           g_ascii_strcasecmp (origin, own_https) != 0)
    set_error (message, SOUP_STATUS_FORBIDDEN, "this is another site's page");
  else if ((is_socket || g_str_has_prefix (path, API)) &&
           !has_token (self, in, query))
    set_error (message, SOUP_STATUS_UNAUTHORIZED, "a token is needed");
  else if (is_socket && self->clients->len >= MAX_CLIENTS)
    set_error (message, SOUP_STATUS_SERVICE_UNAVAILABLE, "too many clients");
}

static void
take_request (SoupServer *soup, SoupServerMessage *message, const gchar *path,
    GHashTable *query, gpointer data)
{
  GstTfxServerHttp *self = data;
  const gchar *method = soup_server_message_get_method (message);

  g_queue_remove (&self->silent,
      g_object_get_data (G_OBJECT (
                             soup_server_message_get_remote_address (message)),
          "connection"));
  if (strcmp (path, API "socket") == 0 ||
      (strcmp (path, "/") == 0 &&
          soup_message_headers_get_one (
              soup_server_message_get_request_headers (message), "Upgrade"))) {
    if (soup_websocket_server_process_handshake (message, NULL, NULL, NULL,
            NULL))
      g_signal_connect (message, "wrote-informational",
          G_CALLBACK (open_socket), self);
  } else if (method != SOUP_METHOD_GET && method != SOUP_METHOD_POST) {
    set_error (message, SOUP_STATUS_METHOD_NOT_ALLOWED, "GET or POST");
  } else if (g_str_has_prefix (path, API)) {
    serve_command (self, message, path + strlen (API), query);
  } else {
    serve_page (message, path);
  }
}

/* ---- connections ---------------------------------------------------------------------- */

static void
forget_connection (gpointer data, GObject *connection)
{
  GstTfxServerHttp *self = data;

  self->n_connections--;
  g_queue_remove (&self->silent, connection);
}

/* A timeout of the socket ends what sends and takes nothing.  Of too many, the oldest one
 * without a whole good request ends. */
static gboolean
accept_connection (GSocketService *service, GSocketConnection *connection,
    GObject *source, gpointer data)
{
  GstTfxServerHttp *self = data;
  GSocket *socket = g_socket_connection_get_socket (connection);
  g_autoptr (GSocketAddress) local =
      g_socket_connection_get_local_address (connection, NULL);
  g_autoptr (GSocketAddress) remote =
      g_socket_connection_get_remote_address (connection, NULL);

  if (!local || !remote)
    return TRUE;
  if (self->n_connections >= MAX_CONNECTIONS) {
    GSocketConnection *oldest = g_queue_pop_head (&self->silent);

    if (!oldest)
      return TRUE;
    g_socket_shutdown (g_socket_connection_get_socket (oldest), TRUE, TRUE,
        NULL);
  }
  g_queue_push_tail (&self->silent, connection);
  g_object_set_data (G_OBJECT (remote), "connection", connection);
  g_socket_set_timeout (socket, IDLE_S);
  g_socket_set_option (socket, IPPROTO_TCP, TCP_NODELAY, TRUE, NULL);
  self->n_connections++;
  g_object_weak_ref (G_OBJECT (connection), forget_connection, self);
  soup_server_accept_iostream (self->soup, G_IO_STREAM (connection), local,
      remote, NULL);
  return TRUE;
}

guint16
gst_tfx_server_http_listen (GstTfxServerHttp *self, guint16 port,
    GError **error)
{
  GList *addresses =
      self->address
          ? g_resolver_lookup_by_name (g_resolver_get_default (), self->address,
                NULL, error)
          : g_list_append (g_list_append (NULL, g_inet_address_new_loopback (
                                                    G_SOCKET_FAMILY_IPV4)),
                g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV6));
  guint16 found = 0;

  /* The first one must be free; a machine may have no IPv6. */
  for (GList *l = addresses; l && (found || l == addresses); l = l->next) {
    g_autoptr (GSocketAddress) address =
        g_inet_socket_address_new (l->data, found ? found : port);
    g_autoptr (GSocketAddress) bound = NULL;

    if (g_socket_listener_add_address (G_SOCKET_LISTENER (self->service),
            address, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL, &bound,
            found ? NULL : error) &&
        !found)
      found = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (bound));
  }
  g_resolver_free_addresses (addresses);
  if (found)
    g_socket_service_start (self->service);
  return found;
}

GstTfxServerHttp *
gst_tfx_server_http_new (GstTfxServerApi *api, const gchar *address,
    const gchar *host, const gchar *token)
{
  GstTfxServerHttp *self = g_new0 (GstTfxServerHttp, 1);

  api->emit = emit_event;
  api->emit_data = self;
  self->api = api;
  self->address = address;
  self->host = host;
  self->token = token;
  self->clients = g_ptr_array_new_with_free_func (free_client);
  self->timer = g_timeout_add (0, tick, self);
  self->soup = soup_server_new ("server-header", "gst-tfx", NULL);
  soup_server_add_early_handler (self->soup, NULL, check_request, self, NULL);
  soup_server_add_handler (self->soup, NULL, take_request, self, NULL);
  self->service = g_socket_service_new ();
  g_socket_listener_set_backlog (G_SOCKET_LISTENER (self->service),
      MAX_CONNECTIONS);
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
  g_source_remove (self->timer);
  g_ptr_array_unref (self->clients);
  soup_server_disconnect (self->soup);
  g_object_unref (self->soup);
  g_queue_clear (&self->silent);
  g_free (self);
}
