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
const EDGE = { left: 38, right: 10, top: 10, bottom: 22 };
const LOWEST_HZ = 20;

const byId = id => document.getElementById(id);
const canvas = byId("plot");
const model = { stages: [], chain: "", state: {}, curve: null, spectrum: null,
  range: 18, bands: [] };

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

/** The token behind "#" in the address; the address bar and the history lose it. */
function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    sessionStorage.setItem("token", token);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem("token");
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
  socket.onclose = () => {
    for (const { reject } of waiting.values())
      reject({ message: "the connection was lost" });
    waiting.clear();
    showState("Not connected; trying again …", true);
    setTimeout(connect, delay);
    delay = Math.min(2 * delay, 10000);
  };
}

async function begin() {
  delay = 500;
  subscribe();
  takeState(await request("state"));
  takeChain(await request("chain"));
  takePresets(await request("presets"));
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
    preset: takePresets, meters: takeMeters, spectrum: takeSpectrum,
    warning: warning => log(warning.message) };
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

/** Numbers as people write them: 2.5k, −3. */
function parse(text) {
  const match = /^\s*([-+−]?[\d.]+(?:e[-+]?\d+)?)\s*(k?)/i.exec(text);
  if (!match)
    return NaN;
  return Number(match[1].replace("−", "-")) * (match[2] ? 1000 : 1);
}

function parseList(text) {
  try {
    return JSON.parse(text);
  } catch {
    return NaN;
  }
}

/** The part of a parameter's range that a slider covers; null if it has no end. */
function sliderRange(p) {
  let low = p.min, high = p.max;
  if (p.unit === "Hz") {
    low = Math.max(low ?? 0, LOWEST_HZ);
    high = Math.min(high ?? 20000, 20000);
  } else if (p.unit === "dB") {
    low = Math.max(low ?? -60, p.name === "gain" ? -24 : -60);
    high = Math.min(high ?? 24, 24);
  }
  if (low == null || high == null || !(high > low))
    return null;
  return { low, high, isLog: Boolean(p.log) && low > 0, isInteger: p.integer };
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
function set(stage, p, value) {
  if (isNumber(p)) {
    if (p.min != null)
      value = Math.max(value, p.min);
    if (p.max != null)
      value = Math.min(value, p.max);
  }
  p.value = value;
  p.show();
  if (p.isSending) {
    p.isChanged = true;
    return;
  }
  p.isSending = true;
  request("set", { stage: stage.name, parameter: p.name, value })
    .then(ok => {
      if (!p.isChanged && ok && "value" in ok)
        p.value = ok.value;
    })
    .catch(async error => {
      log(`${stage.name}.${p.name}: ${error.message}`);
      takeChain(await request("chain"));
    })
    .finally(() => {
      p.isSending = false;
      if (p.isChanged) {
        p.isChanged = false;
        set(stage, p, p.value);
      } else {
        p.show();
      }
    });
  askCurve();
}

function takeParameter({ stage, parameter, value }) {
  const p = model.stages.find(s => s.name === stage)
    ?.parameters.find(each => each.name === parameter);
  if (p && !p.isSending) {
    p.value = value;
    p.show();
    askCurve();
  }
}

// ---- stages ---------------------------------------------------------------------

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function makeSelect(stage, p, id) {
  const select = make("select", { id });
  for (const choice of p.choices)
    select.append(make("option", { value: choice, textContent: choice }));
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

function makeText(stage, p, id) {
  const input = make("input", { id, type: "text", title: p.doc ?? "",
    className: isNumber(p) ? "" : "long", autocomplete: "off" });
  const wasNumber = isNumber(p), wasList = Array.isArray(p.value);
  input.onchange = () => {
    const value = wasNumber ? parse(input.value)
      : wasList ? parseList(input.value) : input.value;
    const isWrong = Number.isNaN(value);
    input.setAttribute("aria-invalid", isWrong);
    if (isWrong)
      log(`${stage.name}.${p.name}: "${input.value}" is not a ` +
        (wasNumber ? "number" : "list"));
    else
      set(stage, p, value);
  };
  p.shows.push(() => {
    if (document.activeElement !== input || wasNumber)
      input.value = format(p.value);
  });
  return input;
}

function makeSlider(stage, p, name) {
  const range = sliderRange(p);
  if (!range)
    return "";
  const slider = make("input", { type: "range", min: 0, max: 1000, step: 1 });
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
  const limits = p.min != null && p.max != null
    ? `, ${format(p.min)} to ${format(p.max)} ${p.unit ?? ""}` : "";
  const usual = p.default != null ? `, default ${format(p.default)}` : "";
  p.shows = [];
  p.show = () => p.shows.forEach(show => show());
  const makeInput = p.choices ? makeSelect
    : typeof p.value === "boolean" ? makeCheckbox : makeText;
  const box = make("span", { className: "box" }, makeInput(stage, p, id),
    make("span", { className: "unit", textContent: p.unit ?? "" }));
  return make("div", { className: "parameter" },
    make("label", { htmlFor: id, textContent: name,
      title: `${p.doc || name}${limits}${usual}` }), box,
    isNumber(p) ? makeSlider(stage, p, `${stage.name} ${name}`) : "");
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
  scaleGain(stage);
  stage.color = COLORS[index % COLORS.length];
  stage.reduction = make("output");
  card.style.setProperty("--band", stage.color);
  card.setAttribute("aria-label", `${stage.name}, ${stage.class}`);
  card.append(make("h2", {}, make("span", { className: "dot" }), stage.name,
    make("small", { textContent: stage.class }), stage.reduction));
  for (const p of stage.parameters)
    card.append(makeParameter(stage, p));
  return card;
}

function takeChain(answer) {
  const text = byId("chain"), focused = document.activeElement?.id;
  const isEdited = text.value !== model.chain;
  model.chain = answer.chain;
  model.stages = answer.stages;
  if (!isEdited)
    text.value = answer.chain;
  else if (answer.by !== undefined && answer.by !== model.state.client)
    log("the chain was changed elsewhere; Revert shows it");
  byId("stages").replaceChildren(...model.stages.map(makeStage));
  makeHandles();
  model.stages.forEach(stage => stage.parameters.forEach(p => p.show()));
  if (focused)
    byId(focused)?.focus({ preventScroll: true });
  askCurve();
}

// ---- bands on the graph ------------------------------------------------------------

const isHz = p => isNumber(p) && p.unit === "Hz";

function makeHandles() {
  model.bands = [];
  for (const stage of model.stages) {
    const find = test => stage.parameters.find(test);
    const frequency = find(p => p.name === "frequency" && isHz(p)) ??
      find(p => p.name === "cutoff" && isHz(p));
    if (frequency)
      model.bands.push({ stage, frequency,
        gain: find(p => p.name === "gain" && p.unit === "dB"),
        q: find(p => p.name === "q" && isNumber(p)) });
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
    if (handle.hasPointerCapture(event.pointerId))
      drag(band, event);
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
  const highest = Math.min(20000, (model.state.rate ?? 48000) / 2);
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
  if (isAsking) {
    askAgain = true;
    return;
  }
  isAsking = true;
  try {
    const { highest } = getAxes();
    model.curve = await request("response",
      { from: LOWEST_HZ, to: 0.999 * highest, points: 256 });
    chooseRange();
    redraw();
  } catch (error) {
    log(`response: ${error.message}`);
  }
  isAsking = false;
  if (askAgain) {
    askAgain = false;
    askCurve();
  }
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
  if (canvas.width !== Math.round(scale * canvas.clientWidth) ||
      canvas.height !== Math.round(scale * canvas.clientHeight)) {
    canvas.width = Math.round(scale * canvas.clientWidth);
    canvas.height = Math.round(scale * canvas.clientHeight);
  }
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
  context.lineWidth = 1;
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (let decade = 10; decade < axes.highest; decade *= 10)
    for (let i = 1; i < 10; i++) {
      const hz = decade * i, x = Math.round(axes.x(hz)) + 0.5;
      if (hz < LOWEST_HZ || hz > axes.highest)
        continue;
      context.strokeStyle = color("line");
      context.globalAlpha = i === 1 ? 1 : 0.45;
      strokeLine(context, x, EDGE.top, x, EDGE.top + axes.height);
      context.globalAlpha = 1;
      context.fillStyle = color("dim");
      if (i === 1 || i === 2 || i === 5)
        context.fillText(hz < 1000 ? hz : `${hz / 1000}k`, x,
          EDGE.top + axes.height + 12);
    }
  context.textAlign = "right";
  for (let i = -2; i <= 2; i++) {
    const db = i * model.range / 2, y = Math.round(axes.y(db)) + 0.5;
    context.globalAlpha = i === 0 ? 1 : 0.6;
    strokeLine(context, EDGE.left, y, EDGE.left + axes.width, y);
    context.globalAlpha = 1;
    context.fillText(`${db > 0 ? "+" : db < 0 ? "−" : ""}${Math.abs(db)}`,
      EDGE.left - 6, y);
  }
}

function strokeLine(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
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

function makeMeter(name, n) {
  const bars = Array.from({ length: Math.min(n, 8) }, () =>
    make("div", { className: "bar" }, make("i"), make("b")));
  const value = make("span", { className: "value" });
  const meter = make("div", { className: "meter" }, value,
    make("div", { className: "bars" }, ...bars),
    make("span", { className: "value", textContent: name }));
  return { meter, bars, value };
}

const meters = {};

function showLevels(name, label, levels) {
  const n = levels.peak_db.length;
  if (meters[name]?.n !== n) {
    const made = { n, ...makeMeter(label, n) };
    if (meters[name])
      meters[name].meter.replaceWith(made.meter);
    else
      byId("meters").append(made.meter);
    meters[name] = made;
  }
  const percent = db => `${Math.max(0, 100 + 100 * (db ?? -1000) / METER_DB)}%`;
  meters[name].bars.forEach((bar, i) => {
    bar.style.setProperty("--level", percent(levels.rms_db[i]));
    bar.style.setProperty("--peak", percent(Math.min(levels.peak_db[i] ?? -1000, 0)));
    bar.classList.toggle("over", levels.peak_db[i] > 0);
  });
  const top = Math.max(...levels.peak_db.map(db => db ?? -1000));
  meters[name].value.textContent =
    top > -200 ? top.toFixed(1).replace("-", "−") : "−∞";
}

function takeMeters(event) {
  showLevels("input", "In", event.input);
  showLevels("output", "Out", event.output);
  const loudness = event.output.momentary_lufs;
  byId("numbers").textContent = loudness == null ? ""
    : `Loudness ${loudness.toFixed(1).replace("-", "−")} LUFS`;
  for (const stage of model.stages) {
    const db = event.reduction_db?.[stage.name];
    stage.reduction.textContent = db == null ? ""
      : `${db.toFixed(1).replace("-", "−")} dB`;
  }
}

function takeSpectrum(event) {
  model.spectrum = event;
  redraw();
}

// ---- state, text, presets ---------------------------------------------------------

function showState(text, isLost = false) {
  byId("state").textContent = text;
  byId("state").classList.toggle("lost", isLost);
}

function takeState(event) {
  Object.assign(model.state, event);
  const s = model.state, parts = [];
  if (s.rate)
    parts.push(`${s.rate / 1000} kHz`,
      s.channels === 1 ? "mono" : `${s.channels} channels`);
  if (s.latency_s != null)
    parts.push(`latency ${(1000 * s.latency_s).toFixed(1)} ms`);
  if (s.load != null)
    parts.push(`load ${(100 * s.load).toFixed(0)} %`);
  if (s.dropped)
    parts.push(`${s.dropped} buffers dropped`);
  showState(parts.join(" · "));
  byId("play").textContent = s.playing ? "Pause" : "Play";
  byId("play").setAttribute("aria-pressed", !s.playing);
  byId("bypass").setAttribute("aria-pressed", Boolean(s.bypassed));
  if (s.slot)
    byId("ab").textContent = s.slot.toUpperCase();
  redraw();
}

function log(text) {
  const list = byId("log");
  list.prepend(make("li", { textContent: text }));
  while (list.children.length > 20)
    list.lastChild.remove();
}

function showFault(text, error) {
  let shown = "";
  if (error && error.line) {
    const line = text.split("\n")[error.line - 1] ?? "";
    shown = `${line}\n${" ".repeat(error.column - 1)}` +
      `${"^".repeat(Math.max(error.length ?? 1, 1))}\n`;
  }
  byId("fault").textContent = error ? shown + error.message : "";
  byId("chain").classList.toggle("wrong", Boolean(error));
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
  const answer = await sendText("set-chain");
  if (answer) {
    byId("chain").value = model.chain;
    takeChain(answer);
  }
}

function revert() {
  byId("chain").value = model.chain;
  showFault("", null);
}

function takePresets({ names, current }) {
  if (names)
    byId("presets").replaceChildren(
      ...names.map(name => make("option", { value: name })));
  if (current !== undefined && document.activeElement !== byId("preset"))
    byId("preset").value = current ?? "";
}

async function onPreset(command) {
  const name = byId("preset").value.trim();
  try {
    await request(command, { name });
    log(`${command.replace("-", " ")}: ${name}`);
    takePresets(await request("presets"));
  } catch (error) {
    log(error.message);
  }
}

const run = (command, values) =>
  request(command, values).catch(error => log(error.message));

function listen() {
  let timer;
  byId("play").onclick = () => run(model.state.playing ? "pause" : "play");
  byId("bypass").onclick = () => run("bypass", { on: !model.state.bypassed });
  byId("ab").onclick = async () => {
    const answer = await run("ab");
    if (answer)
      takeState({ slot: answer.slot });
  };
  byId("chain").oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(sendText, 250, "check");
  };
  byId("chain").onkeydown = event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey))
      apply();
  };
  byId("chain-form").onsubmit = event => { event.preventDefault(); apply(); };
  byId("revert").onclick = revert;
  byId("preset-form").onsubmit = event => {
    event.preventDefault();
    onPreset("load-preset");
  };
  byId("save").onclick = () => onPreset("save-preset");
  byId("delete").onclick = () => onPreset("delete-preset");
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
