/* SPDX-License-Identifier: LGPL-2.1-or-later
 * page.js: the page of gst-tfx serve.  It speaks the protocol of docs/serve.md.
 *
 *   in    receive() hands each message of the socket to its function in `takers`, which
 *         writes it to `model` and draws it.
 *   out   A control calls set() for a parameter, and run() for any other command.
 *
 * A value that this page sets is drawn at once, and corrected by the answer.
 */
"use strict";

const model = { state: {}, chain: "", shape: "", stages: [], bands: [], range: 18 };
const takers = { state: takeState, chain: takeChain, presets: takePresets, // also of ask()
  parameter: takeParameter, meters: takeMeters, spectrum: takeSpectrum,
  preset: () => ask("presets"), warning: ({ message }) => log(message) };

const RANGES = [12, 18, 24, 36, 60]; // of the response's axis, in dB
const SPECTRUM_DB = 110;             // the height of the spectrum below 0 dBFS
const METER_DB = 60;                 // the height of a level meter below 0 dBFS
const FALL_DB = 0.6;                 // by which a peak falls with each of 20 events a second
const LOWEST_HZ = 20;
// What sliders cover of wide ranges, by unit or name
const USUAL = { Hz: [LOWEST_HZ, 20000], dB: [-60, 24], s: [0.001, 5], q: [0.1, 30],
  ratio: [1, 30], gain: [0, 4], order: [1, 24] };
const WIDEST = 1e5;                  // others that are wider have none
const PAUSE_MS = 30;                 // between requests of one kind: their rate is limited

// ---- helpers ----------------------------------------------------------------------

const byId = id => document.getElementById(id);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const withSign = db => (Math.round(10 * db) / 10 || 0).toFixed(1).replace("-", "−");

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** A function that runs a task once its calls have paused. */
function afterPause(ms, task) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(task, ms);
  };
}

/** A function that runs a task, and once more if it is called during a run. */
function oneAtATime(task) {
  const call = async () => {
    call.isDue = true;
    if (call.isBusy)
      return;
    call.isBusy = true;
    while (call.isDue) {
      call.isDue = false;
      await task();
      await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
    }
    call.isBusy = false;
  };
  return call;
}

// ---- connection -------------------------------------------------------------------

const waiting = new Map(); // requests without an answer, by their id
let socket = null, lastId = 0, delay = 500;

/** Sends a command; resolves with its result, or rejects with its error. */
function request(command, values = {}) {
  return new Promise((resolve, reject) => {
    if (socket?.readyState !== WebSocket.OPEN) {
      reject({ message: "the server is not connected" });
      return;
    }
    waiting.set(++lastId, { resolve, reject });
    socket.send(JSON.stringify({ id: lastId, do: command, ...values }));
  });
}

/** Sends a command; its error goes to the messages. */
const run = (command, values) =>
  request(command, values).catch(error => log(error.message));

/** Sends a command whose result is taken as an event is. */
async function ask(command) {
  const answer = await run(command);
  if (answer)
    takers[command](answer);
}

function receive(message) {
  if (message.event) {
    takers[message.event]?.(message);
    return;
  }
  const answer = waiting.get(message.id);
  waiting.delete(message.id);
  if (message.error)
    answer?.reject(message.error);
  else
    answer?.resolve(message.ok);
}

/** The token behind "#" in the address; the address bar and the history lose it. */
function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    localStorage.setItem("token", token);
    history.replaceState(null, "", location.pathname);
  }
  return localStorage.getItem("token");
}

function connect() {
  const token = takeToken();
  const address = new URL("/api/v1/socket", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  if (token)
    address.searchParams.set("token", token);
  socket = new WebSocket(address);
  socket.onmessage = message => receive(JSON.parse(message.data));
  socket.onopen = async () => {
    delay = 500;
    subscribe();
    await ask("state");
    ask("chain");
    ask("presets");
  };
  socket.onclose = async () => {
    for (const { reject } of waiting.values())
      reject({ message: "the connection was lost" });
    waiting.clear();
    // A WebSocket does not report why it is refused.
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    const answer = await fetch("/api/v1/state", { headers }).catch(() => null);
    showState(answer?.status === 401
      ? "The token is missing or wrong: open the address that the server has printed"
      : "Not connected; trying again …", true);
    setTimeout(connect, delay);
    delay = Math.min(2 * delay, 10000);
  };
}

function subscribe() {
  const rate = document.hidden ? 0 : 20;
  request("subscribe", { meters: rate, spectrum: rate }).catch(() => {});
}

// ---- values -----------------------------------------------------------------------

const isNumber = p => typeof p.value === "number" && !p.choices;
const isWord = p => p.choices && !(p.min < p.max);

function format(value) {
  if (typeof value !== "number")
    return Array.isArray(value) ? JSON.stringify(value) : String(value ?? "");
  return String(+value.toPrecision(5)).replace("-", "−");
}

const withUnit = p => format(p.value) + (p.unit ? " " + p.unit : "");

/** The value that a text is for a parameter: 2.5k, 0,5, −3 dB, [1, 2]; NaN: none. */
function parse(p, text) {
  const match = /^([-+−]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[-+]?\d+)?)\s*(k?)(.*)$/i
    .exec(text);
  if (p.choices?.includes(text) || (!(p.min < p.max) && !Array.isArray(p.value)))
    return text;
  if (text === "" && p.default === null)
    return null;
  if (match && ["", p.unit.toLowerCase()].includes(match[3].trim().toLowerCase()))
    return Number(match[1].replace("−", "-").replace(",", ".")) * (match[2] ? 1000 : 1);
  try {
    return JSON.parse(/^\[.*/.exec(text)[0].replaceAll("−", "-"));
  } catch {
    return NaN;
  }
}

/** Sets a parameter.  While an answer is due, later values replace each other. */
function set(p, value) {
  p.value = typeof value === "number"
    ? clamp(value, p.min ?? value, p.max ?? value) : value;
  p.show();
  p.send();
  askCurve();
}

async function send(stage, p) {
  try {
    const { value } = await request("set",
      { stage: stage.name, parameter: p.name, value: p.value });
    if (!p.send.isDue)
      p.value = value;
  } catch (error) {
    log(`${stage.name}.${p.name}: ${error.message}`);
  }
  p.show();
  refresh();
}

function takeParameter({ stage, parameter, value }) {
  const p = model.stages.find(s => s.name === stage)
    ?.parameters.find(each => each.name === parameter);
  if (p && !p.send.isBusy) {
    p.value = value;
    p.show();
    askCurve();
  }
  refresh();
}

/** Asks for the text and all values once the parameters and the keyboard rest. */
const refresh = afterPause(300, () =>
  document.activeElement?.isEdited ? refresh() : ask("chain"));

// ---- stages -----------------------------------------------------------------------

/** Shows a chain.  One with the same parameters gets its values into the same boxes, so
 *  that a hand or a keyboard that is on one of them is not disturbed. */
function takeChain(answer) {
  const text = byId("chain"), isEdited = text.value !== model.chain;
  answer.stages.forEach(scaleGain);
  const shape = JSON.stringify(answer.stages,
    (key, value) => key === "value" ? typeof value : value);
  if (!isEdited)
    text.value = answer.chain;
  else if (answer.by !== undefined && answer.by !== model.state.client)
    log("the chain was changed elsewhere; Revert shows it");
  model.chain = answer.chain;
  if (shape === model.shape) {
    model.stages.forEach((stage, i) => stage.parameters.forEach((p, k) => {
      if (!p.send.isBusy)
        p.value = answer.stages[i].parameters[k].value;
    }));
  } else {
    const focused = document.activeElement?.id;
    model.shape = shape;
    model.stages = answer.stages;
    byId("stages").replaceChildren(...model.stages.map(makeStage));
    model.bands = model.stages.map(findBand).filter(band => band.frequency);
    byId("handles").replaceChildren(...model.bands.map(makeHandle));
    if (focused)
      byId(focused)?.focus({ preventScroll: true });
  }
  model.stages.forEach(stage => stage.parameters.forEach(p => p.show()));
  askCurve();
}

/** A gain is in dB if the parameter of its scale says so. */
function scaleGain({ parameters }) {
  const gain = parameters.find(p => p.name === "gain");
  const scale = parameters.find(p => /^gain_(scale|type)$/.test(p.name));
  if (gain && scale?.value === "db")
    Object.assign(gain, { unit: "dB", log: false, min: -120, max: 120 });
}

function makeStage(stage, i) {
  stage.number = i + 1;
  stage.hue = (255 + 137.5 * i) % 360; // far from its neighbours
  stage.reduction = make("span", { className: "reduction" });
  stage.card = make("fieldset", { className: "band",
    ariaLabel: `${stage.name}, ${stage.class}`, style: `--hue: ${stage.hue}` },
    make("h2", {}, make("span", { className: "number" }, stage.number),
      make("span", {}, stage.name, " ", make("small", {}, stage.class)), stage.reduction),
    ...stage.parameters.map(p => makeParameter(stage, p)));
  return stage.card;
}

function makeParameter(stage, p) {
  const id = `${stage.name}.${p.name}`, name = p.name.replaceAll("_", " ");
  const hint = [p.doc, p.min < p.max ? `${format(p.min)} to ${format(p.max)}` : "",
    p.choices?.join(", "),
    p.default != null ? `default ${format(p.default)}` : ""].filter(Boolean).join("; ");
  p.shows = []; // functions that draw the value
  p.show = () => p.shows.forEach(show => show());
  p.send = oneAtATime(() => send(stage, p));
  const input = isWord(p) || typeof p.value === "boolean" ? makeChoice(p)
    : makeText(p, id);
  input.id = id;
  input.setAttribute("aria-describedby", `${id}.hint`);
  return make("div", { className: "parameter", title: hint },
    make("label", { htmlFor: id }, `${name} `,
      make("small", {}, name.endsWith(p.unit) ? "" : p.unit)),
    input, isNumber(p) ? makeSlider(p, id, `${stage.name} ${name}`) : "",
    make("small", { className: "hint", id: `${id}.hint`, textContent: hint }));
}

/** A list of words, of which some may be true or false, or a box to tick. */
function makeChoice(p) {
  if (!isWord(p)) {
    const box = make("input", { type: "checkbox" });
    box.onchange = () => set(p, box.checked);
    p.shows.push(() => { box.checked = p.value; });
    return box;
  }
  const words = new Set([...p.choices, p.default ?? p.value, p.value]);
  const list = make("select", {}, ...[...words].map(word => make("option", {}, word)));
  list.onchange = () => set(p, [...words][list.selectedIndex]);
  p.shows.push(() => { list.value = p.value; });
  return list;
}

/** A box whose text is the listener's from the first key until it is used or left. */
function makeText(p, id) {
  const input = make("input", { type: "text", autocomplete: "off", spellcheck: false,
    autocapitalize: "off", className: isNumber(p) ? "" : "long" });
  const reset = () => {
    input.isEdited = false;
    input.ariaInvalid = null;
    p.show();
  };
  if (isNumber(p) && p.min >= 0)
    input.inputMode = "decimal";
  input.oninput = () => { input.isEdited = true; };
  input.onblur = reset;
  input.onkeydown = event => { event.key === "Escape" && reset(); };
  input.onchange = () => {
    const text = input.value.trim(), value = parse(p, text);
    if (!Number.isNaN(value)) {
      reset();
      set(p, value);
      return;
    }
    input.ariaInvalid = true;
    log(`${id}: "${text}" is no ${Array.isArray(p.value) ? "list" : "number"}`);
  };
  p.shows.push(() => {
    if (!input.isEdited)
      input.value = format(p.value);
  });
  return input;
}

/** A slider for the usual part of a range; none if that is too wide. */
function makeSlider(p, id, ariaLabel) {
  const usual = USUAL[p.unit] ?? USUAL[p.name] ?? [p.min, p.max];
  const low = p.name === "gain" && p.unit === "dB" ? -24 : Math.max(p.min, usual[0]);
  const high = Math.min(p.max, usual[1]);
  if (!(high > low && high - low < WIDEST))
    return "";
  const isLog = !p.integer && low > 0 && (p.log || p.unit === "s");
  const scale = value => isLog ? Math.log(clamp(value, low, high)) : value;
  const unscale = position => isLog ? Math.exp(position) : position;
  const min = scale(low), max = scale(high);
  const step = p.integer ? 1 : (max - min) / 1000; // of a key, too
  const slider = make("input", { type: "range", min, max, step, ariaLabel,
    id: `${id}.slider` });
  slider.oninput = () =>
    set(p, +unscale(slider.valueAsNumber).toPrecision(p.integer ? 6 : 3));
  slider.ondblclick = () => p.default != null && set(p, p.default);
  p.shows.push(() => {
    slider.value = scale(p.value);
    slider.ariaValueText = withUnit(p);
  });
  return slider;
}

// ---- bands on the graph -----------------------------------------------------------

/** The parameters of a stage that a point on the graph moves. */
function findBand(stage) {
  const find = test => stage.parameters.find(p => isNumber(p) && test(p));
  return { stage, gain: find(p => p.name === "gain"), q: find(p => p.name === "q"),
    frequency: find(p => p.unit === "Hz" && /^(frequency|cutoff)$/.test(p.name)) };
}

const gainDb = ({ gain }) => !gain ? 0
  : gain.unit === "dB" ? gain.value : 20 * Math.log10(Math.max(gain.value, 1e-6));

function makeHandle(band) {
  const { stage, frequency, gain, q } = band, frame = byId("handles");
  const handle = make("button", { className: "band number handle", role: "slider",
    id: `handle-${stage.name}`, style: `--hue: ${stage.hue}`,
    ariaLabel: `${stage.name}, ${stage.class}`, ariaValueMin: LOWEST_HZ }, stage.number);
  const moveTo = hz => set(frequency, +hz.toPrecision(4));
  const liftTo = db => gain && set(gain, gain.unit === "dB" ? +db.toFixed(1)
    : +Math.pow(10, db.toFixed(1) / 20).toPrecision(4));
  const widen = factor => q && set(q, +(q.value * factor).toPrecision(3));
  const keys = {
    ArrowLeft: step => moveTo(frequency.value * Math.pow(2, -step / 24)),
    ArrowRight: step => moveTo(frequency.value * Math.pow(2, step / 24)),
    ArrowUp: step => liftTo(gainDb(band) + 0.5 * step),
    ArrowDown: step => liftTo(gainDb(band) - 0.5 * step),
    PageUp: () => widen(1.1),
    PageDown: () => widen(1 / 1.1),
  };
  handle.onkeydown = event => {
    if (!keys[event.key])
      return;
    event.preventDefault();
    keys[event.key](event.shiftKey ? 8 : 1);
  };
  handle.onpointerdown = event => handle.setPointerCapture(event.pointerId);
  handle.onpointermove = event => {
    if (!handle.hasPointerCapture(event.pointerId))
      return;
    const { x, y, width, height } = frame.getBoundingClientRect();
    moveTo(hzAt(clamp((event.clientX - x) / width, 0, 1)));
    liftTo(model.range * (1 - 2 * clamp((event.clientY - y) / height, 0, 1)));
  };
  handle.onwheel = event => {
    event.preventDefault();
    widen(Math.pow(1.1, -Math.sign(event.deltaY)));
  };
  handle.ondblclick = () => liftTo(0);
  handle.onfocus = () => { // brings its stage into view
    byId("stages").scrollLeft = stage.card.offsetLeft - byId("stages").offsetLeft;
  };
  band.handle = handle;
  for (const p of [frequency, gain, q])
    p?.shows.push(() => placeHandle(band));
  return handle;
}

function placeHandle(band) {
  const { frequency, gain, q, handle } = band, db = gainDb(band);
  const title = [withUnit(frequency), gain && `${format(+db.toFixed(2))} dB`,
    q && `q ${format(q.value)}`].filter(Boolean).join(", ");
  Object.assign(handle, { title, ariaValueText: title,
    ariaValueMax: Math.round(highestHz()), ariaValueNow: Math.round(frequency.value) });
  handle.style.left = `${toX(frequency.value)}%`;
  handle.style.top = `${toY(clamp(db, -model.range, model.range))}%`;
}

// ---- the graph --------------------------------------------------------------------

const highestHz = () => Math.min(20000, (model.state.rate || 48000) / 2);
const hzAt = part => LOWEST_HZ * Math.pow(highestHz() / LOWEST_HZ, part);

/** Places on the graph in percent of its width, and of its height from the top. */
const toX = hz =>
  100 * clamp(Math.log(hz / LOWEST_HZ) / Math.log(highestHz() / LOWEST_HZ), 0, 1);
const toY = db => 50 - 50 * db / model.range;

const drawPath = (id, points) => byId(id).setAttribute("d",
  "M" + points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join("L"));

/** Asks for the response; not again before the answer. */
const askCurve = oneAtATime(async () => {
  const curve = await run("response",
    { from: LOWEST_HZ, to: 0.999 * highestHz(), points: 256 });
  if (!curve)
    return;
  const gains = model.bands.map(band => Math.abs(gainDb(band)));
  const top = 1.2 * Math.max(6, ...gains, ...curve.db);
  const range = RANGES.find(each => each >= top) ?? RANGES.at(-1);
  // It shrinks only when no handle is held, or the handle would run away.
  if (range > model.range || !document.querySelector(".handle:active"))
    model.range = range;
  drawPath("curve", curve.db.map((db, i) =>
    [toX(curve.frequencies[i]), toY(Math.max(db ?? -1000, -1000))]));
  model.bands.forEach(placeHandle);
  drawGrid();
});

function drawGrid() {
  const lines = [];
  const draw = (className, style, text) => lines.push(
    make("i", { className, style }, make("span", { textContent: text })));
  for (let hz = LOWEST_HZ, step; hz <= highestHz(); hz += step) {
    step = 10 ** (String(hz).length - 1);
    const text = hz === LOWEST_HZ ? `${hz} Hz` : hz < 1000 ? hz : `${hz / 1000}k`;
    draw(hz === step ? "hz" : "hz minor", `left: ${toX(hz)}%`,
      [1, 2, 5].includes(hz / step) ? text : "");
  }
  for (const part of [-1, -0.5, 0, 0.5, 1]) {
    const db = part * model.range, text = (db > 0 ? "+" : "") + format(db);
    draw(db ? "db minor" : "db", `top: ${toY(db)}%`, part === 1 ? `${text} dB` : text);
  }
  byId("grid").replaceChildren(...lines);
}

function takeSpectrum({ from_hz: from, to_hz: to, db_input, db }) {
  const draw = (id, levels) => drawPath(id, [[toX(from), 100], ...levels.map((level, i) =>
    [toX(from * Math.pow(to / from, i / (levels.length - 1))),
      clamp(-100 * (level ?? -1000) / SPECTRUM_DB, 0, 100)]), [toX(to), 100]]);
  draw("input", db_input);
  draw("output", db);
}

// ---- levels -----------------------------------------------------------------------

const meters = {};

/** Shows up to 8 channels.  A peak falls slowly, so that it can be read. */
function showLevels(name, label, { peak_db, rms_db }) {
  if (meters[name]?.peaks.length !== peak_db.length) {
    meters[name]?.element.remove();
    const bars = peak_db.slice(0, 8).map(() => make("div", { className: "bar" }));
    const value = make("span", { className: "value" });
    const element = make("div", { className: "meter" }, value,
      make("div", { className: "bars" }, ...bars), make("span", { className: `value ${name}` },
        peak_db.length > 8 ? label + " 1–8" : label));
    meters[name] = { element, bars, value, peaks: peak_db.map(() => -1000) };
    byId("meters").append(element);
  }
  const { bars, value, peaks } = meters[name];
  peak_db.forEach((db, i) => {
    const falling = peaks[i] > -METER_DB ? peaks[i] - FALL_DB : -1000;
    peaks[i] = Math.max(db ?? -1000, falling);
  });
  const percent = db => `${clamp(100 + 100 * (db ?? -1000) / METER_DB, 0, 100)}%`;
  bars.forEach((bar, i) => {
    bar.style.setProperty("--level", percent(rms_db[i]));
    bar.style.setProperty("--peak", percent(peaks[i]));
    bar.classList.toggle("over", peaks[i] > 0);
  });
  const top = Math.max(...peaks);
  value.textContent = top > -200 ? withSign(top) : "−∞";
}

function takeMeters({ input, output, reduction_db }) {
  showLevels("input", "In", input);
  showLevels("output", "Out", output);
  const loudness = output.momentary_lufs;
  byId("numbers").textContent = loudness == null ? ""
    : `Loudness ${withSign(loudness)} LUFS`;
  for (const stage of model.stages) {
    const db = reduction_db?.[stage.name];
    stage.reduction.textContent = db == null ? "" : `${withSign(db)} dB`;
  }
}

// ---- state, messages --------------------------------------------------------------

function takeState(event) {
  const rate = model.state.rate, s = Object.assign(model.state, event);
  if (rate !== s.rate)
    refresh(); // the ranges depend on it
  showState([s.rate && `${s.rate / 1000} kHz`,
    s.rate && (s.channels === 1 ? "mono" : `${s.channels} channels`),
    `latency ${(1000 * s.latency_s).toFixed(1)} ms`, `load ${(100 * s.load).toFixed(0)} %`,
    s.dropped && `${s.dropped} frames dropped`].filter(Boolean).join(" · "));
  byId("play").textContent = s.playing ? "Pause" : "Play";
  byId("bypass").ariaPressed = Boolean(s.bypassed);
  byId("ab").textContent = `Settings ${s.slot.toUpperCase()}`;
}

function showState(text, isLost = false) {
  if (isLost && text !== byId("state").textContent)
    log(text);
  byId("state").textContent = text;
  document.body.classList.toggle("lost", isLost);
}

function log(text) {
  const list = byId("log");
  [...list.children].find(item => item.textContent === text)?.remove();
  list.prepend(make("li", {}, text));
  while (list.children.length > 20)
    list.lastChild.remove();
}

// ---- the chain as text, presets ---------------------------------------------------

/** Runs a command that sends the text of the chain; shows its fault, if any. */
async function sendText(command) {
  const text = byId("chain").value;
  try {
    await request(command, { chain: text });
    showFault(text, null);
    return true;
  } catch (error) {
    showFault(text, error);
    return false;
  }
}

/** The place is drawn for eyes, and in words for screen readers. */
function showFault(text, error) {
  let place = "", message = error?.message ?? "";
  if (error?.line) {
    const line = text.split("\n")[error.line - 1] ?? "";
    place = `${line}\n${" ".repeat(error.column - 1)}` +
      `${"^".repeat(Math.max(error.length ?? 1, 1))}\n`;
    message = `${error.line}:${error.column}: ${message}`;
  }
  byId("place").textContent = place;
  byId("place").scrollLeft = (error?.column ?? 0) * 8 - 80; // (pixels, about)
  if (byId("fault").textContent !== message)
    byId("fault").textContent = message;
  byId("chain").ariaInvalid = Boolean(error);
}

async function apply() {
  if (await sendText("set-chain"))
    revert(); // to the new chain, whose event comes before the answer
}

function revert() {
  byId("chain").value = model.chain;
  showFault("", null);
}

function takePresets({ names, current }) {
  const list = byId("presets"), chosen = list.value;
  list.replaceChildren(...names.map(name => make("option", {}, name)));
  list.value = names.includes(chosen) && document.activeElement === list
    ? chosen : current;
  if (document.activeElement !== byId("preset"))
    byId("preset").value = current ?? "";
}

async function onPreset(command, name) {
  if (!await run(command, { name }))
    return;
  log(`${command.replace("-", " ")}: ${name}`);
  if (command === "load-preset")
    revert();
  ask("presets");
}

// ---- controls that are always there -----------------------------------------------

byId("play").onclick = () => run(model.state.playing ? "pause" : "play");
byId("bypass").onclick = () => run("bypass", { on: !model.state.bypassed });
byId("ab").onclick = () => run("ab");
byId("chain").oninput = afterPause(250, () => sendText("check"));
byId("chain").onkeydown = event => {
  event.key === "Enter" && (event.ctrlKey || event.metaKey) && apply();
};
byId("chain-form").onsubmit = event => { event.preventDefault(); apply(); };
byId("revert").onclick = revert;
byId("preset-form").onsubmit = event => {
  event.preventDefault();
  onPreset("save-preset", byId("preset").value.trim());
};
byId("load").onclick = () => onPreset("load-preset", byId("presets").value);
byId("delete").onclick = () => {
  const name = byId("presets").value;
  if (name && confirm(`Delete the preset "${name}"?`))
    onPreset("delete-preset", name);
};
document.onkeydown = event => {
  const button = { " ": "play", b: "bypass", x: "ab" }[event.key];
  const users = event.key === " " ? "input, select, textarea, button:not(.handle)"
    : "input:not([type=range], [type=checkbox]), select, textarea";
  if (button && !event.target.matches(users) &&
      !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    byId(button).click();
  }
};
document.onvisibilitychange = subscribe;
window.onhashchange = () => location.reload(); // a new token
setInterval(() => {
  if (socket.readyState === WebSocket.OPEN && !document.hidden)
    ask("state");
}, 5000);
connect();
