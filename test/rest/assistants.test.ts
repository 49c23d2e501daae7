import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";

const running = useApp();

describe("assistants", () => {
  test("a PATCH changes only what it names", async () => {
    const { api } = running;
    const { id } = await api.post("/rest/v1/assistants", { name: "Ada", description: "first" }, 200);
    await api.patch(`/rest/v1/assistants/${id}`, { name: "Bea" }, 200);
    expect(await api.get(`/rest/v1/assistants/${id}`, 200)).toEqual({
      id,
      name: "Bea",
      description: "first",
      template: false,
    });
  });
});
