import { type Band, readBand, type ServerMessage } from "./protocol";

export interface LinkEvents {
  connected(): void;
  lost(): void;
  message(message: ServerMessage): void;
  band(band: Band): void;
}

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8000;

/** The connection to the program. It comes back by itself: the program may be closed and started again. */
export class Link {
  private socket: WebSocket | null = null;
  private delay = FIRST_DELAY_MS;
  private timer = 0;

  private events: LinkEvents | null = null;

  /** Connects at once: the connection is there when the rest of the page is. */
  constructor() {
    addEventListener("online", () => this.retryNow());
    document.addEventListener("visibilitychange", () => document.hidden || this.retryNow());
    this.connect();
  }

  /** Resolves once there is a connection, or after so long. */
  connected(atMostMs: number): Promise<void> {
    return new Promise((resolve) => {
      setTimeout(resolve, atMostMs);
      if (this.socket?.readyState === WebSocket.OPEN) resolve();
      else this.socket?.addEventListener("open", () => resolve());
    });
  }

  /** Tells of what comes from now on. Nothing comes before the page has asked for something. */
  attach(events: LinkEvents): void {
    this.events = events;
    if (this.socket?.readyState === WebSocket.OPEN) events.connected();
  }

  /** Sends a message, or says that there is no connection. */
  send(message: unknown): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /** Closes the connection; it comes back like one that was lost. */
  close(): void {
    this.socket?.close();
  }

  private retryNow(): void {
    if (this.socket) return;
    this.delay = FIRST_DELAY_MS;
    this.connect();
  }

  private connect(): void {
    clearTimeout(this.timer);
    const address = new URL("./api/v1/socket", location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    address.hash = "";
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.delay = FIRST_DELAY_MS;
      this.events?.connected();
    };
    socket.onmessage = ({ data }) => {
      if (data instanceof ArrayBuffer) this.events?.band(readBand(data));
      else this.events?.message(JSON.parse(data));
    };
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.events?.lost();
      this.timer = window.setTimeout(() => this.connect(), this.delay);
      this.delay = Math.min(LONGEST_DELAY_MS, 2 * this.delay);
    };
  }
}
