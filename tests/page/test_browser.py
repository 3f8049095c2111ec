"""The report in a browser: no errors, no requests, right numbers, no obstacles."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen import page as pages
from symgen.description import read
from symgen.description.expressions import evaluate
from symgen.errors import RequestError
from symgen.support.journal import Journal
from tests import modules
from tests.mechanisms.models import FOUR_BAR
from tests.page.test_page import EXAMPLES

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
TEMPLATES = Path(__file__).parents[2] / "templates"
LEVEL = "lines => lines.every(line => line.y1.baseVal.value === line.y2.baseVal.value)"
"""Whether the floor is seen as a line, from the front."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(
    scope="module", params=["two_link", pytest.param("puma560", marks=pytest.mark.deep)]
)
def model(request):
    return EXAMPLES / f"{request.param}.yaml"


@pytest.fixture(scope="module")
def written(model, tmp_path_factory):
    target = tmp_path_factory.mktemp("report") / "report.html"
    target.write_text(pages.report(read(model), True, None, Journal()), encoding="utf-8")
    return target


@pytest.fixture
def watched(browser):
    """Open a page in a tab; the tab, and what it prints, fails with and asks for."""
    tabs = []

    def in_a_tab(page, **options):
        tab, found = browser.new_page(**options), []
        tabs.append(tab)
        tab.on("console", lambda message: found.append(f"{message.type}: {message.text}"))
        tab.on("pageerror", lambda error: found.append(str(error)))
        tab.on("request", lambda request: found.append(request.url))
        tab.goto(page.as_uri())
        tab.wait_for_selector("body[data-ready]", timeout=30_000)
        return tab, found

    yield in_a_tab
    for tab in tabs:
        tab.close()


@pytest.fixture
def opened(watched, written):
    """The page, and what it complained of or asked for."""
    return watched(written, viewport={"width": 1280, "height": 900})


def drawn(tab):
    """Wait until the page has computed and drawn what was asked: it does so once a frame."""
    tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def unfold(tab):
    """Open everything, and wait until long recursions are there."""
    tab.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    filled = "Array.from(document.querySelectorAll('.steps')).every(s => s.textContent.length > 9)"
    for _ in range(1000):  # frames; `wait_for_function` evaluates in the page, which forbids that
        drawn(tab)
        if tab.evaluate(filled):
            return
    raise AssertionError("some recursion stays empty")


def numbers(tab, table):
    """Formulation -> the numbers of its column."""
    cells = tab.eval_on_selector_all(
        f"#{table} td[data-formulation]",
        "cells => cells.map(c => [c.dataset.formulation, c.dataset.value])",
    )
    names = dict.fromkeys(name for name, _ in cells)
    return {name: np.array([float(v) for n, v in cells if n == name]) for name in names}


def shown_state(tab, n):
    """Where the sliders of q, qd and qdd stand."""
    return np.array([
        [float(tab.locator(f"#{kind}-{i + 1}").input_value()) for i in range(n)]
        for kind in ("q", "qd", "qdd")
    ])  # fmt: skip


def sliders(tab, kind):
    """Where the sliders of a kind stand, to the digits of their boxes."""
    boxes = f'input[type=number][data-kind="{kind}"]'
    return np.array(tab.eval_on_selector_all(boxes, "boxes => boxes.map(b => Number(b.value))"))


def loaded(model, functions, formulations="newton_euler"):
    """The module of Python, which the page has to agree with."""
    return modules.module(model, formulations=formulations, functions=functions)


def test_it_asks_for_nothing_and_complains_of_nothing(opened, written):
    tab, found = opened
    unfold(tab)
    assert found == [written.as_uri()]


def test_a_slider_moves_the_torques_of_every_formulation(opened, model):
    tab, _ = opened
    module = loaded(model, "inverse_dynamics", "all")
    before = numbers(tab, "torques")
    tab.locator("#q-2").fill("0.7")
    tab.locator("#qd-1").fill("-1.3")
    tab.locator("#qdd-2").fill("2.1")
    drawn(tab)
    q, qd, qdd = state = shown_state(tab, module.n)
    assert (q[1], qd[0], qdd[1]) == (0.7, -1.3, 2.1)
    after = numbers(tab, "torques")
    assert len(after) >= 4
    for name, tau in after.items():
        expected = getattr(module, name).inverse_dynamics(*state)
        np.testing.assert_allclose(tau, expected, rtol=1e-9, atol=1e-9)
        assert np.max(np.abs(tau - before[name])) > 1e-3
    for qdd in numbers(tab, "accelerations").values():
        np.testing.assert_allclose(qdd, state[2], rtol=1e-9, atol=1e-9)
    assert re.search(r"^\d formulations agree", tab.inner_text("#torques-verdict"))


def test_the_figure_is_posed_turned_and_told_in_words(opened, model):
    tab, _ = opened
    module = loaded(model, "forward_kinematics")
    q, _, _ = shown_state(tab, module.n)
    poses = module.forward_kinematics(q)
    tab.locator("summary", has_text="Where the link frames are").click()
    rows = tab.locator("#positions tr").all_inner_texts()
    for pose, text in zip(poses, rows, strict=True):
        shown = [float(word) for word in text.split("\t")[1:]]
        np.testing.assert_allclose(shown, pose[:3, 3], atol=5.1e-5)
    arrow = tab.locator("#figure line.gravity")
    x1, y1, x2, y2 = (float(arrow.get_attribute(name)) for name in ("x1", "y1", "x2", "y2"))
    assert x1 == x2 and y1 < y2  # gravity points down, whatever axis of the base that is
    before = tab.inner_html("#figure")
    tab.locator("#q-1").fill("1.1")
    drawn(tab)
    posed = tab.inner_html("#figure")
    tab.locator("#figure").press("ArrowLeft")
    turned = tab.inner_html("#figure")
    box = tab.locator("#figure").bounding_box()
    tab.mouse.move(box["x"] + 100, box["y"] + 100)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 160, box["y"] + 90)
    tab.mouse.up()
    dragged = tab.inner_html("#figure")
    assert len({before, posed, turned, dragged}) == 4


def test_robot_and_plots_are_on_one_screen(opened):
    tab, _ = opened
    assert tab.locator("#stage.aside").count() == 0
    tab.locator("#energy-plot").scroll_into_view_if_needed()
    tab.wait_for_selector("#stage.aside")
    dots = "dots => dots.map(dot => dot.className.baseVal)"  # the first instant, before it moves
    parts = ["part-inertial", "part-gravity", "part-total"]
    assert tab.eval_on_selector_all("#energy-plot circle", dots) == parts
    right = "element => element.getBoundingClientRect().right"
    figure = tab.locator("#stage").bounding_box()
    assert tab.eval_on_selector("#phase-plot", right) < figure["x"]
    tab.click("#stage .play")
    drawn(tab)
    assert tab.inner_text("#play") == "Pause"
    box = tab.locator("#figure").bounding_box()
    assert box["y"] > 0 and box["y"] + box["height"] <= 900
    tab.click("#stage .play")
    marks = tab.eval_on_selector_all("#energy-plot text", "marks => marks.map(m => m.textContent)")
    assert "0" in marks and all(len(mark) < 6 for mark in marks)
    for name in ("parts", "forces"):  # of the page's width
        wide = f"document.getElementById('{name}').parentElement"
        assert tab.evaluate(f"{wide}.scrollWidth <= {wide}.clientWidth"), name
    tab.locator("#stage .hide").click()
    assert tab.locator("#stage.aside").count() == 0


def test_planar_robots_are_seen_from_the_front_and_numbers_are_short(opened, model):
    tab, _ = opened
    assert tab.eval_on_selector_all("#figure .floor", LEVEL) == (model.stem == "two_link")
    cells = "cells => cells.map(cell => [cell.textContent, cell.title])"
    for text, full in tab.eval_on_selector_all("#torques td", cells):
        assert len(text.strip("-0.").replace(".", "")) <= 5 < len(full)
        assert float(text) == pytest.approx(float(full), rel=1e-4)


def test_buttons_and_numbers(opened):
    tab, _ = opened
    tab.get_by_role("button", name="All zero").click()
    assert tab.locator("#qdd-1").input_value() == "0"
    number = tab.get_by_role("spinbutton").first
    number.fill("0.25")
    assert tab.locator("#q-1").input_value() == "0.25"
    number.fill("")  # while it is typed: nothing happens
    assert "NaN" not in tab.inner_text("#torques")


def test_sliders_reach_farther_than_initial_velocities(watched, tmp_path):
    slide = "{name: a, type: prismatic, origin: {}, link: {mass: 1}}"
    text = f"symgen: 1\nname: m\njoints: [{slide}]\ninitial: {{qd: {{a: -8}}}}\n"
    target = tmp_path / "page.html"
    pages.write_report(modules.file_of(text), target, True, None, Journal())
    tab, _ = watched(target)
    assert tab.locator("#qd-1").input_value() == "-8"
    assert tab.get_attribute("#qd-1", "min") == "-12"


@pytest.mark.deep
def test_what_is_wrong_is_a_disagreement(watched, written):
    """One entry in the page's own functions is changed by more than rounding."""
    tab, _ = watched(written)
    tab.evaluate(
        """() => {
            const right = window.symgen.kane.forward_dynamics;
            window.symgen.kane.forward_dynamics = (...state) => {
                const found = right(...state);
                found.qdd[1] += 1e-6;
                return found;
            };
        }"""
    )
    tab.get_by_role("button", name="All zero").click()
    assert "formulations DISAGREE" in tab.inner_text("#accelerations-verdict")


def test_the_state_is_printed_with_what_follows_from_it(opened):
    tab, _ = opened
    tab.emulate_media(media="print")
    assert tab.locator("input[type=number][data-kind=q]").first.is_visible()
    assert tab.locator("#by").is_visible()
    assert not tab.locator("#q-1").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_nothing_is_wider_than_the_window(watched, written, width, scheme):
    tab, _ = watched(written, viewport={"width": width, "height": 900}, color_scheme=scheme)
    unfold(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.deep
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_obstacle(watched, written, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing")
    tab, _ = watched(written, color_scheme=scheme)
    unfold(tab)
    response = axe.Axe().run(tab).response
    assert len(response["passes"]) > 30
    assert [f"{v['id']}: {v['nodes'][0]['html']}" for v in response["violations"]] == []


def test_parameters_and_loads_are_sliders(opened, model):
    tab, _ = opened
    described = read(model)
    names = [item.name for item in described.parameters if not item.expression.names]
    options = {"runtime_parameters": names} if names else {}
    module = modules.module(model, functions="inverse_dynamics", **options)
    assert tab.locator("input[type=range][data-kind=parameters]").count() == len(names)
    assert tab.locator("input[type=range][data-kind=loads]").count() == 6 * module.n_loads
    given = {}
    if names:
        given["parameters"] = 1.3 * module.default_parameters
    if module.n_loads:
        given["loads"] = np.linspace(-3, 4, 6 * module.n_loads).reshape(module.n_loads, 6)
    for kind, values in given.items():
        for i, value in enumerate(np.ravel(values), start=1):
            tab.locator(f'input[type=number][data-kind="{kind}"]').nth(i - 1).fill(
                repr(float(value))
            )
    drawn(tab)
    state = shown_state(tab, module.n)
    expected = module.inverse_dynamics(*state, **given)
    for tau in numbers(tab, "torques").values():
        np.testing.assert_allclose(tau, expected, rtol=1e-9, atol=1e-9)
    tab.get_by_role("button", name="Start again").click()
    drawn(tab)
    for tau in numbers(tab, "torques").values():
        np.testing.assert_allclose(tau, module.inverse_dynamics(*state), rtol=1e-9, atol=1e-9)


def test_the_forces_on_a_link_set_free_make_its_centre_of_mass_accelerate(opened, model):
    """m a, from the poses of the module alone, along a path with these velocities."""
    tab, _ = opened
    described = read(model)
    module = loaded(model, "forward_kinematics")
    if module.n_loads:
        tab.locator("#loads-2").fill("-3")
    step = 1e-3

    def centre(i, t):
        pose = module.forward_kinematics(q + qd * t + qdd * t * t / 2)[i]
        link = described.joints[i].link
        com = [evaluate(x, described.parameter_values) for x in link.com]
        return pose[:3, :3] @ com + pose[:3, 3]

    q, qd, qdd = shown_state(tab, module.n)
    for i, joint in enumerate(described.joints):
        tab.select_option("#free-body-of", str(i))
        drawn(tab)
        cells = tab.eval_on_selector_all(
            "#forces td", "cells => cells.map(c => [c.dataset.force, Number(c.dataset.value)])"
        )
        force = np.array([value for name, value in cells if name == "sum"][:3])
        mass = evaluate(joint.link.mass, described.parameter_values)
        points = [centre(i, k * step) for k in (-2, -1, 0, 1, 2)]
        acceleration = np.dot([-1, 16, -30, 16, -1], points) / (12 * step**2)
        np.testing.assert_allclose(force, mass * acceleration, atol=1e-7)


def test_a_motion_is_played(watched, model, tmp_path):
    module = loaded(model, "forward_kinematics,point_motion")
    t = np.linspace(0, 2, 41)
    q = 0.3 * np.sin(np.outer(t, np.arange(1, module.n + 1)))
    target = symgen.animate(module, (t, q), tmp_path / "motion.html")
    tab, found = watched(target)
    assert tab.eval_on_selector_all("#figure .floor", LEVEL) == (model.stem == "two_link")
    first = tab.inner_html("#figure")
    tab.locator("#time").fill("1")
    assert tab.inner_text("#clock") == "1.00 s"
    later = tab.inner_html("#figure")
    tab.locator("button[data-zoom]").first.click()  # nearer: the floor moves, the robot stays
    floors = []
    for time in ("0.5", "1"):
        tab.locator("#time").fill(time)
        floors.append(tab.locator("#figure .floor").first.get_attribute("x1"))
    assert floors[0] != floors[1]
    tab.locator("#play").click()
    for _ in range(5):
        drawn(tab)
    assert len({first, later, tab.inner_html("#figure")}) == 3
    assert found == [target.as_uri()]


def test_a_fast_motion_is_followed_in_short_steps(browser):
    """A spring of 10,000 rad/s, of which steps of 2 ms make infinity."""
    source = TEMPLATES.joinpath("report", "motion.js").read_text(encoding="utf-8")
    script = """
    const same = (q) => q;
    const configuration = { of: same, sliders: same, rate: (q, qd) => qd, normalized: same };
    const spring = { given: {}, configuration, energies: () => null, free: (q) => [-1e8 * q[0]] };
    const motion = new Motion(spring, () => {});
    let state = { q: [1], qd: [0] };
    for (let k = 0; k < 1000 && motion.time < 0.01; k += 1) {
      state = motion.advance(state, 0.01 - motion.time);
    }
    const few = [[0.5, 8.6], [0.3, 10.35]].map((range) => ticks(...range).length);
    const drawn = (ys) => {
      const svg = { replaceChildren(...parts) { this.parts = parts; } };
      const left = plot(svg, [["curve", ys.map((y, x) => [x, y])]]);
      const [[, { d }]] = svg.parts.filter(([, at]) => at.class === "curve");
      const words = svg.parts.filter(([, at]) => at.x < left).map(([, , text]) => text);
      const heights = d.match(/ [\\d.]+/g).map(Number);
      const longest = Math.max(...words.map((word) => 6.1 * word.length));
      return [Math.max(...heights) - Math.min(...heights), left - longest];
    };
    const plots = [[0, 3e-17], [0.02, 0.02 + 1e-9], [-0.02, -0.0219], [0, 1]].map(drawn);
    motion.remember(state);
    const { states } = motion.track[0];
    return [motion.time, state.q[0], state.qd[0], Math.min(...few), plots, states.length];
    """
    tab = browser.new_page()
    source += "const element = (...parts) => parts;"
    time, q, qd, ticks, plots, steps = tab.evaluate(f"(() => {{ {source} {script} }})()")
    assert time == 0.01 and ticks >= 2 and steps > 3
    assert [height > 5 for height, _ in plots] == [False, False, True, True], "rounding is flat"
    assert min(room for _, room in plots) > 5, "numbers fit beside the frame"
    assert [q, qd / 1e4] == pytest.approx([np.cos(100), -np.sin(100)], abs=1e-4)
    tab.close()


def test_it_moves_as_a_simulation_says_and_keeps_its_energy(opened, model):
    """A fixed time of the page's own integrator, as what Play shows depends on the machine."""
    from scipy.integrate import solve_ivp

    tab, found = opened
    module = loaded(model, "forward_dynamics,kinetic_energy,potential_energy")
    n = module.n
    start = shown_state(tab, n)[:2]
    tab.locator("#play").click()
    assert tab.inner_text("#play") == "Pause"
    for _ in range(1000):  # frames, of which a busy machine draws few a second
        drawn(tab)
        path = tab.locator("#phase-plot path.phase")
        if path.count() and path.get_attribute("d").count("L") >= 10:
            break
    tab.locator("#play").click()
    drawn(tab)
    assert tab.inner_text("#play") == "Play"
    path = tab.get_attribute("#phase-plot path.phase", "d")
    assert path.count("L") >= 3
    time = float(tab.locator("#motion-status").get_attribute("data-time"))
    end = [sliders(tab, kind) for kind in ("q", "qd")]
    free = module.forward_dynamics(*end, np.zeros(n))  # the page shows the accelerations, too
    np.testing.assert_allclose(sliders(tab, "qdd"), free, rtol=1e-3, atol=1e-3)

    def rates(t, x):
        return np.concatenate([x[n:], module.forward_dynamics(x[:n], x[n:], np.zeros(n))])

    solved = solve_ivp(rates, (0, time), np.concatenate(start), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(np.concatenate(end), solved.y[:, -1], rtol=1e-4, atol=1e-4)
    assert not [message for message in found if "error" in message.lower()]


def test_an_equation_is_copied_as_latex(opened):
    tab, _ = opened
    button = tab.locator("#equations .copy").first
    assert button.get_attribute("data-latex").count("=") >= 1
    button.click()
    tab.wait_for_timeout(100)
    assert button.inner_text() in ("Copied", "Not allowed here")


def test_the_gradient_in_words_and_the_rank_of_the_mass_matrix(opened, model):
    tab, _ = opened
    module = loaded(model, ("inverse_dynamics_derivatives", "mass_matrix"))
    tab.click("button[data-state=rest]")
    drawn(tab)
    q, _, _ = shown_state(tab, module.n)
    zero = np.zeros(module.n)
    assert float(tab.locator("#qdd-1").input_value()) == 0.0
    (change,) = re.findall(r"changes by about (\S+) N m", tab.inner_text("#gradient-words"))
    expected = 0.01 * module.inverse_dynamics_derivatives(q, zero, zero)[1][0, 1]
    assert float(change) == pytest.approx(expected, rel=1e-3)
    between = re.search(r"between (\S+) and ([\d.]+)\.$", tab.inner_text("#rank"))
    found = [float(text) for text in between.groups()]
    eigenvalues = np.linalg.eigvalsh(module.mass_matrix(q))
    np.testing.assert_allclose(found, eigenvalues[[0, -1]], rtol=1e-3)


@pytest.mark.deep
def test_an_animation_draws_the_shapes_of_a_urdf(watched, tmp_path):
    from tests.page.test_animation import BOX, written

    urdf = written(tmp_path, BOX)
    module = modules.module(urdf, functions="forward_kinematics")
    run = np.linspace(0, 1, 5), np.linspace(0, 1, 5)[:, None]
    target = symgen.animate(module, run, tmp_path / "motion.html", urdf=urdf)
    tab, found = watched(target)
    blue = """c => { const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        let n = 0; for (let i = 0; i < d.length; i += 4) { n += d[i] < 9 && d[i + 2] > 90; }
        return n; }"""
    assert tab.eval_on_selector(".stage canvas", blue) > 200  # the cylinder
    assert found == [target.as_uri()]


@pytest.fixture(scope="module")
def linkage(tmp_path_factory):
    """A four-bar linkage: its model file and its report."""
    model = modules.file_of(FOUR_BAR)
    target = tmp_path_factory.mktemp("linkage") / "report.html"
    target.write_text(pages.report(read(model), True, None, Journal()), encoding="utf-8")
    return model, target


def column(tab, table):
    """The numbers of a table that have an index."""
    cells = f"#{table} td[data-value]"
    return np.array(tab.eval_on_selector_all(cells, "cells => cells.map(c => +c.dataset.value)"))


@pytest.mark.deep
def test_a_mechanism_stays_closed_while_sliders_move_it(watched, linkage):
    """Against the generated module, in the state that the page shows."""
    model, target = linkage
    tab, found = watched(target)
    module = symgen.load(model, functions="default", backend="numpy")
    start = module.assemble()
    np.testing.assert_allclose(sliders(tab, "q"), start, atol=1e-5)
    assert re.search("1 degree of freedom .*gives 1, without 3 rows", tab.inner_text("#robot"))
    assert "1 degree of freedom at this pose" in tab.inner_text("#freedom")

    tab.locator("#q-1").fill("-1.25")
    tab.locator("#qdd-1").fill("2")
    drawn(tab)
    assert tab.inner_text("#closing-status") == ""
    q = start
    for crank in np.linspace(start[0], -1.25, 40):  # the branch that the page follows, too
        q = module.assemble([crank, *q[1:]], hold=["crank"])
    qd = module.closed_velocities(q, [0, 0, 0]) + sliders(tab, "qd")
    qdd = sliders(tab, "qdd")
    np.testing.assert_allclose(sliders(tab, "q"), q, atol=1e-5)
    np.testing.assert_allclose(module.constraint_jacobian(q) @ qd, 0, atol=1e-4)
    rates = module.constraint_jacobian(q) @ qdd + module.constraint_bias(q, qd)
    np.testing.assert_allclose(rates, 0, atol=1e-4)
    wanted = module.constrained_inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(numbers(tab, "drives")["drives"], wanted.tau, atol=1e-3)
    np.testing.assert_allclose(column(tab, "multipliers"), wanted.multipliers, atol=1e-3)
    wrenches = module.loop_wrenches(q, wanted.multipliers).ravel()
    np.testing.assert_allclose(column(tab, "wrenches"), wrenches, atol=1e-3)
    assert "They are those of the sliders" in tab.inner_text("#accelerations-verdict")
    unique = tab.locator("#multipliers td:last-child").all_inner_texts()
    assert unique == ["yes" if one else "no" for one in module.unique_multipliers(q)]
    assert tab.locator("#gradient tbody tr").count() == sum(module.actuated)
    assert "M of the tree cut open has full rank" in tab.inner_text("#rank")

    tab.locator("#q-3").fill("3")  # the rocker swings, and does not go round
    drawn(tab)
    assert "no farther" in tab.inner_text("#closing-status")
    assert sliders(tab, "q")[2] < 3
    tab.locator("#parameters-2").fill("2.2")  # of another length it closes elsewhere
    drawn(tab)
    assert tab.inner_text("#closing-status") == ""
    assert float(tab.get_attribute("#freedom", "data-open")) < 1e-8

    tab.get_by_role("button", name="Start again").click()
    tab.locator("#play").click()
    for _ in range(20):
        drawn(tab)
    tab.locator("#play").click()
    assert float(tab.get_attribute("#freedom", "data-open")) < 1e-8
    assert found == [target.as_uri()]


@pytest.mark.deep
def test_a_report_of_a_mechanism_that_does_not_close_is_refused(tmp_path):
    model = modules.file_of(FOUR_BAR.replace("d: 2.0", "d: 9.0"))
    with pytest.raises(RequestError, match=r"closed from the positions under 'initial': .*pin"):
        pages.write_report(model, tmp_path / "page.html", True, None, Journal())
