import { Router } from "express";

const SAMPLES_PER_SECOND = 8_000;
const DURATION_SECONDS = 1;

/** Serves the simulator's recordings: one second of a soft tone for every call. */
export function recordings(): Router {
  const router = Router();
  const wav = tone();
  router.get("/simulator/recordings/:id.wav", (_req, res) => void res.type("audio/wav").send(wav));
  return router;
}

/** A WAV file of 8-bit mono samples. */
function tone(): Buffer {
  const samples = SAMPLES_PER_SECOND * DURATION_SECONDS;
  const file = Buffer.alloc(44 + samples);
  file.write("RIFF", 0);
  file.writeUInt32LE(36 + samples, 4);
  file.write("WAVEfmt ", 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(SAMPLES_PER_SECOND, 24);
  file.writeUInt32LE(SAMPLES_PER_SECOND, 28);
  file.writeUInt16LE(1, 32);
  file.writeUInt16LE(8, 34);
  file.write("data", 36);
  file.writeUInt32LE(samples, 40);
  for (let at = 0; at < samples; at++)
    file[44 + at] = 128 + Math.round(20 * Math.sin((at / SAMPLES_PER_SECOND) * 2 * Math.PI * 440));
  return file;
}
