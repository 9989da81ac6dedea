// What the browser keeps: in this tab alone (session) or until it is deleted (local). Where the browser forbids both, nothing is
// kept, and the page works without.

function store(area) {
  const held = new Map();
  const use = (what, otherwise) => {
    try {
      return what(window[area]);
    } catch {
      return otherwise();
    }
  };
  return {
    get: (key) => use((s) => s.getItem(key), () => held.get(key) ?? null),
    set: (key, value) => use((s) => s.setItem(key, value), () => held.set(key, value)),
    remove: (key) => use((s) => s.removeItem(key), () => held.delete(key)),
  };
}

// Whether the page is opened as it was left: reloaded, or by going back to it.
export const again = () => ['reload', 'back_forward'].includes(performance.getEntriesByType('navigation')[0]?.type) || document.wasDiscarded;

export const session = store('sessionStorage');
export const local = store('localStorage');
