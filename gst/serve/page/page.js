/* SPDX-License-Identifier: LGPL-2.1-or-later
 * page.js: the page of gst-tfx serve.  It speaks the protocol of docs/serve.md, and
 * shows what the server reports: a value that this page sets is drawn at once, and
 * corrected by the answer.
 */
"use strict";

const COLORS = ["#3584e4", "#1fa5a5", "#4fa83d", "#e5921b", "#d3477f", "#8f5bd6",
  "#b0753d", "#5a7a99"];
const RANGES = [12, 18, 24, 36, 60]; // of the response's axis, in dB
const METER_DB = 60;                 // the height of a level meter
const SPECTRUM_DB = 110;             // the height of the spectrum below 0 dBFS
const EDGE = { left: 38, right: 16, top: 10, bottom: 22 };
const LOWEST_HZ = 20;
// What sliders cover of wide ranges, by unit or name.
const USUAL = { Hz: [LOWEST_HZ, 20000], dB: [-60, 24], s: [0.001, 5], q: [0.1, 30],
  ratio: [1, 30], gain: [0, 4] };
const WIDEST = 1e5;                  // others that are wider have none
const PAUSE_MS = 30; // between requests of one kind, as their rate is limited

const byId = id => document.getElementById(id);
const canvas = byId("plot");
const model = { stages: [], chain: "", state: {}, curve: null, spectrum: null,
  range: 18, bands: [], shape: "" };

// ---- connection -----------------------------------------------------------------

const waiting = new Map();
let socket = null, lastId = 0, delay = 500;

/** Sends a command; resolves with its result, or rejects with its error. */
function request(command, values = {}) {
  return new Promise((resolve, reject) => {
    if (!socket || socket.readyState !== WebSocket.OPEN) {
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

const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

/** The token behind "#" in the address; the address bar and the history lose it. */
function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    localStorage.setItem("token", token);
    history.replaceState(null, "", location.pathname);
  }
  return localStorage.getItem("token");
}

/** Why the server refuses this page, which a WebSocket does not report. */
async function findRefusal(token) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch("/api/v1/state", { headers }).catch(() => null);
  return answer?.status === 401
    ? "The token is missing or wrong: open the address that the server has printed"
    : "Not connected; trying again …";
}

function connect() {
  const token = takeToken();
  const address = new URL("/api/v1/socket", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  if (token)
    address.searchParams.set("token", token);
  socket = new WebSocket(address);
  socket.onopen = begin;
  socket.onmessage = message => receive(JSON.parse(message.data));
  socket.onclose = async () => {
    for (const { reject } of waiting.values())
      reject({ message: "the connection was lost" });
    waiting.clear();
    model.spectrum = null;
    redraw();
    showState(await findRefusal(token), true);
    setTimeout(connect, delay);
    delay = Math.min(2 * delay, 10000);
  };
}

async function begin() {
  delay = 500;
  subscribe();
  await ask("state", takeState);
  ask("chain", takeChain);
  ask("presets", takePresets);
}

async function ask(command, take) {
  const answer = await run(command);
  if (answer)
    take(answer);
}

function subscribe() {
  const rate = document.hidden ? 0 : 20;
  request("subscribe", { meters: rate, spectrum: rate }).catch(() => {});
}

function receive(message) {
  if ("id" in message) {
    const answer = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error)
      answer?.reject(message.error);
    else
      answer?.resolve(message.ok);
    return;
  }
  const takers = { chain: takeChain, parameter: takeParameter, state: takeState,
    preset: () => ask("presets", takePresets), warning: ({ message }) => log(message),
    meters: takeMeters, spectrum: () => { model.spectrum = message; redraw(); } };
  takers[message.event]?.(message);
}

// ---- values ---------------------------------------------------------------------

const isNumber = p => typeof p.value === "number" && !p.choices;

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

/** The part of a parameter's range that a slider covers; null if it is too wide. */
function sliderRange(p) {
  const usual = USUAL[p.unit] ?? USUAL[p.name] ?? [p.min, p.max];
  const low = p.name === "gain" && p.unit === "dB" ? -24 : Math.max(p.min, usual[0]);
  const high = Math.min(p.max, usual[1]);
  return high > low && high - low < WIDEST
    ? { low, high, isLog: low > 0 && (p.log || p.unit === "s"), isInteger: p.integer }
    : null;
}

function toSlider(range, value) {
  const { low, high, isLog } = range;
  const part = isLog ? Math.log(value / low) / Math.log(high / low)
    : (value - low) / (high - low);
  return 1000 * Math.min(Math.max(part, 0), 1);
}

function fromSlider(range, position) {
  const { low, high, isLog, isInteger } = range, part = position / 1000;
  const value = isLog ? low * Math.pow(high / low, part) : low + part * (high - low);
  return isInteger ? Math.round(value) : +value.toPrecision(3);
}

/** Sets a parameter.  While an answer is due, later values replace each other. */
async function set(stage, p, value) {
  if (typeof value === "number")
    value = Math.max(p.min ?? value, Math.min(p.max ?? value, value));
  p.value = value;
  p.show();
  p.isChanged = true;
  askCurve();
  if (p.isBusy)
    return;
  p.isBusy = true;
  while (p.isChanged) {
    p.isChanged = false;
    p.isSending = true;
    try {
      const ok = await request("set",
        { stage: stage.name, parameter: p.name, value: p.value });
      if (!p.isChanged)
        p.value = ok.value;
    } catch (error) {
      log(`${stage.name}.${p.name}: ${error.message}`);
    }
    p.isSending = false;
    p.show();
    await pause(PAUSE_MS);
  }
  p.isBusy = false;
  refresh();
}

function takeParameter({ stage, parameter, value }) {
  const p = model.stages.find(s => s.name === stage)
    ?.parameters.find(each => each.name === parameter);
  if (p && !p.isSending && !p.isChanged) {
    p.value = value;
    p.show();
    askCurve();
    refresh();
  }
}

let refreshTimer;

/** Asks for the text and all values once the parameters and the keyboard rest. */
function refresh() {
  clearTimeout(refreshTimer);
  refreshTimer = setTimeout(() =>
    document.activeElement?.isEdited ? refresh() : ask("chain", takeChain), 300);
}

// ---- stages ---------------------------------------------------------------------

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function makeSelect(stage, p, id) {
  const select = make("select", { id }, ...p.choices.map(choice =>
    make("option", { textContent: choice })));
  select.onchange = () => set(stage, p, select.value);
  p.shows.push(() => { select.value = p.value; });
  return select;
}

function makeCheckbox(stage, p, id) {
  const box = make("input", { id, type: "checkbox" });
  box.onchange = () => set(stage, p, box.checked);
  p.shows.push(() => { box.checked = p.value; });
  return box;
}

/** A box whose text is the listener's from the first key until it is used or left. */
function makeText(stage, p, id) {
  const input = make("input", { id, type: "text", autocomplete: "off",
    spellcheck: false, autocapitalize: "off", className: isNumber(p) ? "" : "long" });
  const reset = () => {
    input.isEdited = false;
    input.removeAttribute("aria-invalid");
    p.show();
  };
  if (isNumber(p) && p.min >= 0)
    input.inputMode = "decimal";
  input.oninput = () => { input.isEdited = true; };
  input.onblur = reset;
  input.onchange = () => {
    const text = input.value.trim(), value = parse(p, text);
    if (!Number.isNaN(value)) {
      reset();
      set(stage, p, value);
      return;
    }
    input.setAttribute("aria-invalid", true);
    log(`${stage.name}.${p.name}: "${text}" is no ` +
      (Array.isArray(p.value) ? "list" : "number"));
  };
  input.onkeydown = event => { event.key === "Escape" && reset(); };
  p.shows.push(() => {
    if (!input.isEdited)
      input.value = format(p.value);
  });
  return input;
}

function makeSlider(stage, p, name) {
  const range = sliderRange(p);
  if (!range)
    return "";
  const slider = make("input", { type: "range", min: 0, max: 1000, step: 1,
    id: `${stage.name}.${p.name}.slider` });
  slider.setAttribute("aria-label", name);
  slider.oninput = () => set(stage, p, fromSlider(range, Number(slider.value)));
  slider.ondblclick = () => p.default != null && set(stage, p, p.default);
  p.shows.push(() => {
    slider.value = toSlider(range, p.value);
    slider.style.setProperty("--part", `${slider.value / 10}%`);
    slider.setAttribute("aria-valuetext", withUnit(p));
  });
  return slider;
}

function makeParameter(stage, p) {
  const id = `${stage.name}.${p.name}`;
  const name = p.name.replaceAll("_", " ");
  const hint = [p.doc, p.min < p.max ? `${format(p.min)} to ${format(p.max)}` : "",
    p.choices?.join(", "),
    p.default != null ? `default ${format(p.default)}` : ""].filter(Boolean).join("; ");
  p.shows = [];
  p.show = () => p.shows.forEach(show => show());
  const makeInput = p.choices && !(p.min < p.max) ? makeSelect
    : typeof p.value === "boolean" ? makeCheckbox : makeText;
  const input = makeInput(stage, p, id);
  input.setAttribute("aria-describedby", `${id}.hint`);
  return make("div", { className: "parameter", title: hint },
    make("label", { htmlFor: id, textContent: name }),
    make("span", { className: "box" }, input,
      make("span", { className: "unit", textContent: p.unit ?? "" })),
    isNumber(p) ? makeSlider(stage, p, `${stage.name} ${name}`) : "",
    make("small", { className: "hint", id: `${id}.hint`, textContent: hint }));
}

/** A gain is in dB if the parameter of its scale says so. */
function scaleGain(stage) {
  const find = test => stage.parameters.find(p => test.test(p.name));
  const gain = find(/^gain$/), scale = find(/^gain_(scale|type)$/);
  if (gain && scale?.value === "db")
    Object.assign(gain, { unit: "dB", log: false, min: -120, max: 120 });
}

function makeStage(stage, index) {
  const card = make("fieldset");
  stage.color = COLORS[index % COLORS.length];
  stage.reduction = make("span", { className: "reduction" });
  card.style.setProperty("--band", stage.color);
  card.setAttribute("aria-label", `${stage.name}, ${stage.class}`);
  card.append(make("h2", {}, make("span", { className: "dot" }), stage.name,
    make("small", { textContent: stage.class }), stage.reduction));
  for (const p of stage.parameters)
    card.append(makeParameter(stage, p));
  return card;
}

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
      if (!p.isSending && !p.isChanged)
        p.value = answer.stages[i].parameters[k].value;
    }));
  } else {
    const focused = document.activeElement?.id;
    model.shape = shape;
    model.stages = answer.stages;
    byId("stages").replaceChildren(...model.stages.map(makeStage));
    makeHandles();
    if (focused)
      byId(focused)?.focus({ preventScroll: true });
  }
  model.stages.forEach(stage => stage.parameters.forEach(p => p.show()));
  askCurve();
}

// ---- bands on the graph ------------------------------------------------------------

function makeHandles() {
  model.bands = [];
  for (const stage of model.stages) {
    const find = test => stage.parameters.find(p => isNumber(p) && test(p));
    const frequency = find(p => p.unit === "Hz" && /^(frequency|cutoff)$/.test(p.name));
    if (frequency)
      model.bands.push({ stage, frequency,
        gain: find(p => p.name === "gain" && p.unit === "dB"),
        q: find(p => p.name === "q") });
  }
  byId("handles").replaceChildren(...model.bands.map(makeHandle));
}

function makeHandle(band, index) {
  const handle = make("button", { type: "button", className: "handle",
    textContent: index + 1, id: `handle-${band.stage.name}` });
  band.handle = handle;
  handle.setAttribute("role", "slider");
  handle.style.setProperty("--band", band.stage.color);
  handle.onpointerdown = event => handle.setPointerCapture(event.pointerId);
  handle.onpointermove = event => {
    handle.hasPointerCapture(event.pointerId) && drag(band, event);
  };
  handle.onkeydown = event => pressOnBand(band, event);
  handle.onwheel = event => {
    event.preventDefault();
    if (band.q)
      set(band.stage, band.q, band.q.value * Math.pow(1.1, -Math.sign(event.deltaY)));
  };
  handle.ondblclick = () => band.gain && set(band.stage, band.gain, 0);
  for (const p of [band.frequency, band.gain, band.q])
    p?.shows.push(() => placeHandle(band));
  return handle;
}

function placeHandle({ stage, frequency, gain, q, handle }) {
  const axes = getAxes();
  const db = Math.min(Math.max(gain?.value ?? 0, -model.range), model.range);
  handle.style.left = `${axes.x(frequency.value)}px`;
  handle.style.top = `${axes.y(db)}px`;
  handle.setAttribute("aria-label", `${stage.name}, ${stage.class}`);
  handle.setAttribute("aria-valuemin", LOWEST_HZ);
  handle.setAttribute("aria-valuemax", Math.round(axes.highest));
  handle.setAttribute("aria-valuenow", Math.round(frequency.value));
  handle.setAttribute("aria-valuetext", [withUnit(frequency),
    gain && withUnit(gain), q && `q ${format(q.value)}`].filter(Boolean).join(", "));
  handle.title = handle.getAttribute("aria-valuetext");
}

function drag({ stage, frequency, gain }, event) {
  const frame = canvas.getBoundingClientRect(), axes = getAxes();
  const hz = axes.frequency(event.clientX - frame.left);
  set(stage, frequency, +hz.toPrecision(4));
  if (gain)
    set(stage, gain, +axes.db(event.clientY - frame.top).toFixed(1));
}

function pressOnBand({ stage, frequency, gain, q }, event) {
  const step = event.shiftKey ? 8 : 1;
  const move = { ArrowLeft: -step, ArrowRight: step }[event.key];
  const lift = { ArrowUp: 0.5 * step, ArrowDown: -0.5 * step }[event.key];
  const widen = { PageUp: 1.1, PageDown: 1 / 1.1 }[event.key];
  if (move)
    set(stage, frequency, +(frequency.value * Math.pow(2, move / 24)).toPrecision(4));
  if (lift && gain)
    set(stage, gain, +(gain.value + lift).toFixed(1));
  if (widen && q)
    set(stage, q, +(q.value * widen).toPrecision(3));
  if (move || lift || widen)
    event.preventDefault();
}

// ---- the graph ----------------------------------------------------------------------

/** The mapping of frequencies and gains to pixels of the canvas, and back. */
function getAxes() {
  const width = canvas.clientWidth - EDGE.left - EDGE.right;
  const height = canvas.clientHeight - EDGE.top - EDGE.bottom;
  const highest = Math.min(20000, (model.state.rate || 48000) / 2);
  const octaves = Math.log(highest / LOWEST_HZ);
  const clip = part => Math.min(Math.max(part, 0), 1);
  return { width, height, highest,
    x: hz => EDGE.left + width * clip(Math.log(hz / LOWEST_HZ) / octaves),
    y: db => EDGE.top + height * (0.5 - 0.5 * db / model.range),
    frequency: x => LOWEST_HZ * Math.exp(octaves * clip((x - EDGE.left) / width)),
    db: y => model.range * (1 - 2 * clip((y - EDGE.top) / height)) };
}

let isAsking = false, askAgain = false;

/** Asks for the response; not again before the answer. */
async function askCurve() {
  askAgain = true;
  if (isAsking)
    return;
  isAsking = true;
  while (askAgain) {
    askAgain = false;
    const curve = await run("response",
      { from: LOWEST_HZ, to: 0.999 * getAxes().highest, points: 256 });
    if (curve) {
      model.curve = curve;
      chooseRange();
      redraw();
    }
    await pause(PAUSE_MS);
  }
  isAsking = false;
}

function chooseRange() {
  const gains = model.bands.map(band => Math.abs(band.gain?.value ?? 0));
  const top = Math.max(6, ...gains, ...model.curve.db.filter(db => db != null));
  const range = RANGES.find(each => each >= 1.2 * top) ?? RANGES.at(-1);
  // It shrinks only when no handle is held, or the handle would run away.
  if (range > model.range || !document.querySelector(".handle:active"))
    model.range = range;
  model.bands.forEach(placeHandle);
}

let isDue = false;

function redraw() {
  if (!isDue)
    requestAnimationFrame(draw);
  isDue = true;
}

function draw() {
  const scale = devicePixelRatio || 1, context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const color = name => style.getPropertyValue(`--${name}`);
  const axes = getAxes();
  isDue = false;
  const width = Math.round(scale * canvas.clientWidth);
  const height = Math.round(scale * canvas.clientHeight);
  if (canvas.width !== width || canvas.height !== height)
    Object.assign(canvas, { width, height });
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  if (model.spectrum) {
    drawSpectrum(context, axes, model.spectrum.db_input, color("input"));
    drawSpectrum(context, axes, model.spectrum.db, color("output"));
  }
  drawGrid(context, axes, color);
  drawCurve(context, axes, color);
}

function drawGrid(context, axes, color) {
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  const drawLine = (alpha, ...rectangle) => {
    context.globalAlpha = alpha;
    context.fillStyle = color("line");
    context.fillRect(...rectangle);
    context.globalAlpha = 1;
    context.fillStyle = color("dim");
  };
  context.textAlign = "center";
  for (let decade = 10; decade < axes.highest; decade *= 10)
    for (let i = 1; i < 10; i++) {
      const hz = decade * i, x = Math.round(axes.x(hz));
      if (hz < LOWEST_HZ || hz > axes.highest)
        continue;
      drawLine(i === 1 ? 1 : 0.45, x, EDGE.top, 1, axes.height);
      if (i === 1 || i === 2 || i === 5)
        context.fillText(hz < 1000 ? hz : `${hz / 1000}k`, x,
          EDGE.top + axes.height + 12);
    }
  context.textAlign = "right";
  for (let i = -2; i <= 2; i++) {
    const db = i * model.range / 2, y = Math.round(axes.y(db));
    drawLine(i === 0 ? 1 : 0.6, EDGE.left, y, axes.width, 1);
    context.fillText((db > 0 ? "+" : "") + format(db), EDGE.left - 6, y);
  }
}

function drawSpectrum(context, axes, levels, fill) {
  const bottom = EDGE.top + axes.height, last = levels.length - 1;
  const { from_hz: from, to_hz: to } = model.spectrum;
  context.beginPath();
  context.moveTo(axes.x(from), bottom);
  levels.forEach((db, i) => {
    const part = Math.min(Math.max(1 + (db ?? -1000) / SPECTRUM_DB, 0), 1);
    context.lineTo(axes.x(from * Math.pow(to / from, i / last)),
      bottom - part * axes.height);
  });
  context.lineTo(axes.x(to), bottom);
  context.fillStyle = fill;
  context.fill();
}

function drawCurve(context, axes, color) {
  if (!model.curve)
    return;
  context.save();
  context.beginPath();
  context.rect(EDGE.left, EDGE.top, axes.width, axes.height);
  context.clip();
  context.beginPath();
  model.curve.frequencies.forEach((hz, i) =>
    context.lineTo(axes.x(hz), axes.y(Math.max(model.curve.db[i] ?? -1000, -1000))));
  context.strokeStyle = color(model.state.bypassed ? "dim" : "curve");
  context.lineWidth = 2;
  context.lineJoin = "round";
  context.stroke();
  context.restore();
}

// ---- levels ------------------------------------------------------------------------

const withSign = db => db.toFixed(1).replace("-", "−");

const meters = {};

function showLevels(name, label, levels) {
  const n = levels.peak_db.length;
  if (meters[name]?.n !== n) {
    const bars = Array.from({ length: Math.min(n, 8) }, () =>
      make("div", { className: "bar" }, make("i"), make("b")));
    const value = make("span", { className: "value" });
    meters[name]?.meter.remove();
    meters[name] = { n, bars, value, meter: make("div", { className: "meter" }, value,
      make("div", { className: "bars" }, ...bars),
      make("span", { className: "value", textContent: n > 8 ? label + " 1–8" : label })) };
    byId("meters").append(meters[name].meter);
  }
  const percent = db => `${Math.max(0, 100 + 100 * (db ?? -1000) / METER_DB)}%`;
  meters[name].bars.forEach((bar, i) => {
    bar.style.setProperty("--level", percent(levels.rms_db[i]));
    bar.style.setProperty("--peak", percent(Math.min(levels.peak_db[i] ?? -1000, 0)));
    bar.classList.toggle("over", levels.peak_db[i] > 0);
  });
  const top = Math.max(...levels.peak_db.map(db => db ?? -1000));
  meters[name].value.textContent = top > -200 ? withSign(top) : "−∞";
}

function takeMeters(event) {
  showLevels("input", "In", event.input);
  showLevels("output", "Out", event.output);
  const loudness = event.output.momentary_lufs;
  byId("numbers").textContent = loudness == null ? ""
    : `Loudness ${withSign(loudness)} LUFS`;
  for (const stage of model.stages) {
    const db = event.reduction_db?.[stage.name];
    stage.reduction.textContent = db == null ? "" : `${withSign(db)} dB`;
  }
}

// ---- state, text, presets ---------------------------------------------------------

function showState(text, isLost = false) {
  if (isLost && text !== byId("state").textContent)
    log(text);
  byId("state").textContent = text;
  byId("state").classList.toggle("lost", isLost);
}

function takeState(event) {
  const rate = model.state.rate;
  Object.assign(model.state, event);
  if (rate !== model.state.rate)
    refresh(); // the ranges depend on it
  const s = model.state, parts = [];
  if (s.rate)
    parts.push(`${s.rate / 1000} kHz`,
      s.channels === 1 ? "mono" : `${s.channels} channels`);
  parts.push(`latency ${(1000 * s.latency_s).toFixed(1)} ms`,
    `load ${(100 * s.load).toFixed(0)} %`, s.dropped && `${s.dropped} frames dropped`);
  showState(parts.filter(Boolean).join(" · "));
  byId("play").textContent = s.playing ? "Pause" : "Play";
  byId("bypass").setAttribute("aria-pressed", Boolean(s.bypassed));
  byId("ab").textContent = s.slot.toUpperCase();
  byId("ab").setAttribute("aria-label", `Settings ${byId("ab").textContent}; swap`);
  redraw();
}

function log(text) {
  const list = byId("log");
  list.prepend(make("li", { textContent: text }));
  while (list.children.length > 20)
    list.lastChild.remove();
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
  byId("chain").setAttribute("aria-invalid", Boolean(error));
}

/** Runs a command that sends the text of the chain; shows its fault, if any. */
async function sendText(command) {
  const text = byId("chain").value;
  try {
    const answer = await request(command, { chain: text });
    showFault(text, null);
    return answer;
  } catch (error) {
    showFault(text, error);
    return null;
  }
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
  list.replaceChildren(...names.map(name => make("option", { textContent: name })));
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
  ask("presets", takePresets);
}

function listen() {
  let timer;
  byId("play").onclick = () => run(model.state.playing ? "pause" : "play");
  byId("bypass").onclick = () => run("bypass", { on: !model.state.bypassed });
  byId("ab").onclick = () => run("ab");
  byId("chain").oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(sendText, 250, "check");
  };
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
  addEventListener("hashchange", () => location.reload()); // a new token
  setInterval(() => {
    if (socket.readyState === WebSocket.OPEN && !document.hidden)
      ask("state", takeState);
  }, 5000);
  document.addEventListener("visibilitychange", subscribe);
  document.addEventListener("keydown", event => {
    const button = { " ": "play", b: "bypass", x: "ab" }[event.key];
    if (button && event.target === document.body &&
        !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      byId(button).click();
    }
  });
  new ResizeObserver(() => {
    model.bands.forEach(placeHandle);
    redraw();
  }).observe(canvas);
  matchMedia("(prefers-color-scheme: light)").addEventListener("change", redraw);
}

listen();
connect();
