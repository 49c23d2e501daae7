// Loaded by `--require` before a server: shifts the process's clock by CLOCK_SKEW_MS, like a wrong system clock.
const skew = Number(process.env.CLOCK_SKEW_MS);
const RealDate = Date;
globalThis.Date = class Date extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + skew);
    else super(...given);
  }
  static now() {
    return RealDate.now() + skew;
  }
};
Object.defineProperty(performance, "timeOrigin", { value: performance.timeOrigin + skew });
