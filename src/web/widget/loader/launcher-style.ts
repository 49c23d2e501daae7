/** Styles of the launcher and its dialog. They are in a shadow root, isolated from the styles of the page. */
export const LAUNCHER_STYLE = `
:host { all: initial; }
* { box-sizing: border-box; }
.launcher {
  position: fixed; bottom: max(20px, env(safe-area-inset-bottom)); z-index: 2147483000;
  display: flex; align-items: center; justify-content: center; gap: 10px;
  min-width: 56px; max-width: calc(100% - 2 * max(20px, env(safe-area-inset-left), env(safe-area-inset-right))); height: 56px; padding: 0 16px; border: 0; border-radius: 28px;
  background: var(--color); color: var(--on-color); cursor: pointer;
  font: 600 15px/1 var(--font); -webkit-tap-highlight-color: transparent;
  box-shadow: 0 1px 2px rgb(0 0 0 / .14), 0 8px 24px -4px rgb(0 0 0 / .26);
  transition: transform .18s cubic-bezier(.2,.8,.3,1), box-shadow .18s, opacity .18s;
  animation: arrive .32s cubic-bezier(.2,.9,.3,1.2);
}
.launcher[hidden] { display: none; }
.launcher:hover { transform: translateY(-2px); box-shadow: 0 2px 4px rgb(0 0 0 / .14), 0 14px 32px -6px rgb(0 0 0 / .32); }
.launcher:active { transform: scale(.95); }
.launcher:focus-visible { outline: 3px solid var(--color); outline-offset: 3px; box-shadow: 0 0 0 3px #fff; }
.right { right: max(20px, env(safe-area-inset-right)); }
.left { left: max(20px, env(safe-area-inset-left)); }
svg { width: 26px; height: 26px; flex: none; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.text { min-width: 0; overflow: hidden; line-height: 1.4; text-overflow: ellipsis; white-space: nowrap; }
.launcher .shut, .opened .chat, .opened .text { display: none; }
.opened .shut { display: block; }
.opened { padding: 0; width: 56px; }
.badge {
  position: absolute; top: -3px; inset-inline-end: -3px; min-width: 20px; height: 20px; padding: 0 6px; border-radius: 10px;
  background: #d92d20; color: #fff; font: 700 12px/20px system-ui, sans-serif; text-align: center; box-shadow: 0 0 0 2px #fff;
}
.badge:empty { display: none; }
dialog {
  position: fixed; inset: auto; bottom: calc(max(20px, env(safe-area-inset-bottom)) + 72px); z-index: 2147483000;
  margin: 0; padding: 0; border: 0; overflow: hidden; max-width: none; max-height: none;
  width: min(400px, 100vw - 40px); height: min(704px, 100vh - 124px); height: min(704px, 100dvh - 124px);
  border-radius: var(--radius); background: transparent;
  box-shadow: 0 0 0 1px rgb(128 128 128 / .2), 0 4px 12px rgb(0 0 0 / .08), 0 24px 64px -8px rgb(0 0 0 / .28);
  transform-origin: bottom right; animation: open .22s cubic-bezier(.2,.9,.3,1);
}
dialog.left { transform-origin: bottom left; }
dialog.right { inset-inline: auto; right: max(20px, env(safe-area-inset-right)); }
dialog.left { inset-inline: auto; left: max(20px, env(safe-area-inset-left)); }
dialog:not([open]) { display: none; }
dialog::backdrop { background: transparent; }
iframe { display: block; width: 100%; height: 100%; border: 0; border-radius: inherit; color-scheme: auto; }
@media (max-width: 480px), (max-height: 480px) {
  dialog, dialog.left, dialog.right { inset: 0; width: 100vw; height: 100vh; height: 100dvh; border-radius: 0; box-shadow: none; }
}
@media (prefers-reduced-motion: reduce) { .launcher, dialog { animation: none; transition: none; } .launcher:hover { transform: none; } }
@media (forced-colors: active) { .launcher { border: 2px solid ButtonText; } dialog { border: 1px solid CanvasText; } }
@media print { .launcher, dialog { display: none; } }
@keyframes arrive { from { opacity: 0; transform: scale(.6); } }
@keyframes open { from { opacity: 0; transform: translateY(12px) scale(.97); } }
`;
